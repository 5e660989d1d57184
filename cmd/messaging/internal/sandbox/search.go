package sandbox

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
)

// A search is what somebody looks for: a number in any spelling, or words in any order.
type search struct {
	number string // its digits, without what stands before them at home or abroad
	words  []string
	digits []string // of each word that may be a number, or ""
	is     string   // one of the filters
	marked *regexp.Regexp
}

// The filters of conversations.
const (
	isUnread  = "unread"
	isFailed  = "failed"
	isExpired = "expired"
	isHooked  = "webhook"
)

const (
	maxWords    = 10
	maxSearched = 4 << 10 // of a text
)

func newSearch(text, is string) search {
	s := search{is: is, number: numberIn(text), words: strings.Fields(strings.ToLower(clip(text, 200)))}
	s.words = s.words[:min(len(s.words), maxWords)]
	var patterns []string
	for _, word := range s.words {
		s.digits = append(s.digits, numberIn(word))
		patterns = append(patterns, regexp.QuoteMeta(word))
	}
	s.marked = regexp.MustCompile("(?i)" + cmp.Or(strings.Join(patterns, "|"), "$.")) // which is nowhere
	return s
}

// numberIn returns the digits by which a number is found, if the text is one: +63 917…, 0063917… and 0917… are the same.
func numberIn(text string) string {
	const least = 3
	digits := strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "", ".", "", "/", "").Replace(text)
	if strings.Trim(digits, "0123456789") != "" || len(digits) < least {
		return ""
	}
	if trimmed := strings.TrimLeft(digits, "0"); len(trimmed) >= least && len(digits)-len(trimmed) <= 2 {
		return trimmed
	}
	return digits
}

// in returns what a conversation has of it: whether it is found, and the newest message that matches, if it is one.
func (s search) in(c *conversation) (hit *entry, found bool) {
	if len(s.words) == 0 && s.is == "" {
		return nil, true
	}
	isPeer := s.has(c.key.peer, strings.ToLower(c.Peer), strings.ToLower(c.Sender))
	for _, e := range slices.Backward(c.Entries) {
		switch {
		case !s.hasState(e):
		case isPeer && s.is == "":
			return nil, true
		case isPeer || s.has(c.key.peer, e.lower, e.names):
			return e, true
		}
	}
	return nil, false
}

// hasState reports whether an entry passes the filter.
func (s search) hasState(e *entry) bool {
	switch s.is {
	case isUnread:
		return e.Sent != nil && !e.seen
	case isFailed:
		return e.Sent != nil && e.Sent.Status == contract.StatusFailed
	case isExpired:
		return e.Sent != nil && e.hasReached(contract.StatusExpired)
	case isHooked:
		return e.LastCall().Failed()
	}
	return true
}

// has reports whether each word is in one of the texts, or is the number of a recipient, or the whole is.
func (s search) has(peer string, texts ...string) bool {
	if s.number != "" && strings.Contains(peer, s.number) {
		return true
	}
	for i, word := range s.words {
		isNumber := s.digits[i] != "" && strings.Contains(peer, s.digits[i])
		if !isNumber && !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, word) }) {
			return false
		}
	}
	return true
}

// preview returns the part of a text that matches, marked, or its beginning.
func (s search) preview(text string) []piece {
	const around = 24
	text = clip(text, maxSearched)
	var shown []piece
	if at := s.marked.FindStringIndex(text); at != nil && at[0] > around {
		text = strings.ToValidUTF8(text[at[0]-around:], "")
		shown = append(shown, piece{Text: "…"})
	}
	text = clip(text, previewText)
	begin := 0
	for _, at := range s.marked.FindAllStringIndex(text, -1) {
		shown = append(shown, revealed(text[begin:at[0]], piece{})...)
		shown = append(shown, revealed(text[at[0]:at[1]], piece{Mark: true})...)
		begin = at[1]
	}
	return append(shown, revealed(text[begin:], piece{})...)
}

// matches reports whether all words are in what an exchange shows.
func (s search) matches(x *Exchange) bool {
	return len(s.words) == 0 || s.has(peerKey(x.To), strings.ToLower(strings.Join([]string{
		x.Method, x.URL, x.RequestBody, x.ResponseBody, x.To, x.Text, x.About, x.Fault, x.Reason, x.Message, x.requestID(), x.Operation,
		x.At.Format(time.TimeOnly), itoa(x.Status),
	}, "\n")))
}
