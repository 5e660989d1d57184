package sandbox

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
)

// WebhookCall is a call of a webhook with the message or answer that it is about, as the API shows it.
type WebhookCall struct {
	Message string `json:"message"`
	Call
}

// callQuery is which calls a program asks for.
type callQuery struct {
	message, about string
	status, after  int
}

// getCalls returns calls of webhooks, as soon as there is one.
func (s *Sandbox) getCalls(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	q := callQuery{message: v.Get("message"), about: v.Get("about")}
	wait, err := parseWait(v.Get("wait"))
	limit, limitErr := parseLimit(v.Get("limit"))
	err = errors.Join(err, limitErr, onlyKnown(v, "message", "about", "status", "after", "limit", "wait"))
	for name, to := range map[string]*int{"status": &q.status, "after": &q.after} {
		if text := v.Get(name); text != "" {
			n, parseErr := strconv.Atoi(text)
			if *to = n; parseErr != nil || n < 0 {
				err = errors.Join(err, errors.New(name+" must be a number"))
			}
		}
	}
	var found []WebhookCall
	if err == nil {
		err = s.until(r.Context(), wait, func() (bool, error) {
			found = s.findCalls(q)
			return len(found) > 0, nil
		})
	}
	if err != nil {
		failed(w, err)
		return
	}
	if q.after == 0 {
		found = found[max(0, len(found)-limit):]
	}
	respond(w, http.StatusOK, map[string]any{"calls": found[:min(len(found), limit)]})
}

// findCalls returns the calls that a program asks for, in the order in which they ended.
func (s *Sandbox) findCalls(q callQuery) []WebhookCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []WebhookCall{}
	for at := s.book.entries.Front(); at != nil; at = at.Next() {
		e, _ := at.Value.(*entry)
		if q.message != "" && e.ID != q.message {
			continue
		}
		for _, c := range e.Calls {
			if c.Exchange > q.after && (q.about == "" || c.About == q.about) && (q.status == 0 || c.Status == q.status) {
				found = append(found, WebhookCall{e.ID, *c})
			}
		}
	}
	slices.SortFunc(found, func(a, b WebhookCall) int { return a.Exchange - b.Exchange })
	return found
}
