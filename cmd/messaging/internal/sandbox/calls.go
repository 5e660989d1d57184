package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Call is one request to a webhook.
type Call struct {
	About    string    `json:"about"` // the state that it reports, or "answer"
	URL      string    `json:"url"`   // without secrets
	Status   int       `json:"status"`
	Millis   float64   `json:"milliseconds"`
	Try      int       `json:"try"`
	Error    string    `json:"error,omitempty"`
	At       time.Time `json:"at"`
	Exchange int       `json:"exchange,omitempty"`
}

// Failed reports whether the webhook refused the call or did not respond. It is false for a nil call.
func (c *Call) Failed() bool { return c != nil && (c.Error != "" || c.Status >= 400) }

// WebhookCall is a call of a webhook in the API, with the ID of its message or answer.
type WebhookCall struct {
	Message string `json:"message"`
	Call
}

// A callFilter selects calls of webhooks. Zero fields select all.
type callFilter struct {
	message string // an ID
	about   string
	status  int
	after   int // an exchange
}

func (f callFilter) selects(e *entry, c *Call) bool {
	switch {
	case f.message != "" && e.ID != f.message:
		return false
	case f.about != "" && c.About != f.about:
		return false
	case f.status != 0 && c.Status != f.status:
		return false
	}
	return c.Exchange > f.after
}

// calls returns calls of webhooks in the order in which they ended.
func (b *book) calls(filter callFilter) []WebhookCall {
	found := []WebhookCall{}
	for _, e := range b.entries {
		for _, c := range e.Calls {
			if filter.selects(e, c) {
				found = append(found, WebhookCall{Message: e.ID, Call: *c})
			}
		}
	}
	slices.SortFunc(found, func(a, b WebhookCall) int { return a.Exchange - b.Exchange })
	return found
}

// getCalls returns calls of webhooks, in the order in which they ended, as soon as there is one.
func (s *Sandbox) getCalls(r *request) (any, error) {
	filter := callFilter{
		message: r.param("message"),
		about:   r.param("about"),
		status:  r.number("status", 0),
		after:   r.number("after", 0),
	}
	part := r.part(filter.after > 0)
	wait := r.wait()
	if err := r.check(); err != nil {
		return nil, err
	}
	var found []WebhookCall
	_, err := s.waitUntil(r.Context(), wait, func(st *sandboxState) bool {
		found = st.book.calls(filter)
		return len(found) > 0
	})
	if err == nil && wait > 0 && len(found) == 0 {
		err = timeoutError("no such call was made", wait, "others are", s.otherCalls(filter.after))
	}
	return map[string]any{"calls": window(found, part)}, err
}

// otherCalls describes the latest calls after an exchange.
func (s *Sandbox) otherCalls(after int) (all []string) {
	const limit = 5
	st := s.lock()
	defer st.unlock()
	for _, c := range st.book.calls(callFilter{after: after}) {
		all = append(all, fmt.Sprintf("%s → %s for %s", c.About, cmp.Or(c.Error, itoa(c.Status)), c.Message))
	}
	return all[max(0, len(all)-limit):]
}
