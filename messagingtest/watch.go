package messagingtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Watch calls f for each request, with the fault that it takes and the ID that [Sent.RequestID] shows, before it is processed.
// The ID is empty if the request is not read. Watch replaces the f before; it panics if f is nil.
func (s *Server) Watch(f func(r *http.Request, fault Fault, requestID string)) {
	must(f != nil, "Watch: f is nil")
	s.watch.Store(&f)
}

func (s *Server) watched(r *http.Request, fault Fault, requestID string) {
	if f := s.watch.Load(); f != nil {
		(*f)(r, fault, requestID)
	}
}

// Changes yields a copy of every message in the ledger, then of each message as it enters and as its state changes, until the
// context ends.
func (s *Server) Changes(ctx context.Context) iter.Seq[Sent] {
	return func(yield func(Sent) bool) {
		for seen := 0; ; {
			var news []Sent
			s.mu.Lock()
			rows := slices.DeleteFunc(slices.Clone(s.ledger.rows), func(r *row) bool { return r.foreign || r.revision <= seen })
			slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(a.revision, b.revision) })
			for _, r := range rows {
				news = append(news, r.at(s.ledger.advanced))
			}
			seen = s.ledger.revision
			changed := s.ledger.changed
			s.mu.Unlock()
			for _, m := range news {
				if ctx.Err() != nil || !yield(m) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}
}

// WaitFor returns the first message to a recipient that WaitFor has not returned before, and waits for it until the context
// ends. A number is the same with and without its leading +.
func (s *Server) WaitFor(ctx context.Context, to string) (Sent, error) {
	for m := range s.Changes(ctx) {
		if outcomeKey(m.To) == outcomeKey(to) && s.take(m.ID) {
			return m, nil
		}
	}
	return Sent{}, fmt.Errorf("messagingtest: no message: %w", context.Cause(ctx))
}

// take reports whether the message is in the ledger and was not taken before.
func (s *Server) take(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.ledger.byID[id]
	if r == nil || r.taken {
		return false
	}
	r.taken = true
	return true
}

// Drop removes the oldest n messages from the ledger, so that the memory of a server that runs for long stays bounded. Their
// fallbacks are not sent.
func (s *Server) Drop(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.ledger
	n = min(max(n, 0), len(l.rows))
	for _, r := range l.rows[:n] {
		delete(l.byID, r.ID)
		if same := l.byReference[r.ReferenceID]; len(same) > 1 {
			l.byReference[r.ReferenceID] = same[1:] // the oldest is first
		} else {
			delete(l.byReference, r.ReferenceID)
		}
	}
	l.rows, l.sorted, l.previous = slices.Clone(l.rows[n:]), nil, map[string]any{}
}

// Code returns the one-time code that the message seems to hold, or "": four to eight digits that stand alone, or three and
// three, in its text or, if it has none, in its body. Of several, it is the one closest to a word such as "code" or "sign in".
// Without such a word, only a template holds a code.
func (m Sent) Code() string {
	text := m.Text
	if text == "" {
		var texts []string
		known := []string{m.To, m.From, m.ReferenceID, m.CallbackURL, m.FallbackText, m.Template}
		dec := json.NewDecoder(bytes.NewReader(m.Body))
		for token, err := dec.Token(); err == nil; token, err = dec.Token() {
			if s, isText := token.(string); isText && !slices.Contains(known, s) {
				texts = append(texts, s)
			}
		}
		text = strings.Join(texts, "\n")
	}
	pattern := `(?:^|[^\pL\pN\p{Sc}.,:/+-])(?:[A-Z]-)?(\d{3}[ -]\d{3}|\d{4,8})(?:[.,!?;:]?(?:\s|$)|[)"'\]*_])`
	codes := regexp.MustCompile(pattern).FindAllStringSubmatchIndex(text, -1)
	words := `(?i)\b(code|otp|pin|passcode|password|verif\pL*|confirm\pL*|sign.?in|log.?in|kode|código)\b`
	word := regexp.MustCompile(words).FindStringIndex(text)
	if len(codes) == 0 || word == nil && m.Kind != "template" {
		return ""
	}
	best := codes[0]
	if word != nil {
		far := func(c []int) int { return max(c[2]-word[1], word[0]-c[3]) }
		best = slices.MinFunc(codes, func(a, b []int) int { return cmp.Compare(far(a), far(b)) })
	}
	return strings.NewReplacer(" ", "", "-", "").Replace(text[best[2]:best[3]])
}
