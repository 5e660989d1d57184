package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
)

// A messageFilter selects messages. Empty fields select all.
type messageFilter struct {
	isAnswer     bool // selects answers of recipients, and otherwise messages of programs
	channel      string
	state        contract.Status
	recipientKey string // as by recipientKeyOf
	from         string
	text         string // a part of the text, in lower case
	reference    string
}

func (f messageFilter) selects(e *entry) bool {
	switch {
	case f.isAnswer != (e.Answer != nil):
		return false
	case f.channel != "" && e.Channel != f.channel:
		return false
	case f.recipientKey != "" && e.recipientKey != f.recipientKey:
		return false
	case f.from != "" && e.From != f.from:
		return false
	case f.reference != "" && e.ReferenceID != f.reference:
		return false
	case f.state != "" && !e.hasReached(f.state):
		return false
	}
	return strings.Contains(e.lowerText, f.text)
}

// A messageList is a part of the messages or answers that a filter selects, the oldest first.
type messageList struct {
	found        []Message
	total        int // how many the filter selects after the cursor, without the limit
	dropped      int // how many messages and answers the sandbox has dropped
	isCursorGone bool
}

// list returns a part of what a filter selects after a message or an answer with an ID, or of everything if the ID is empty.
func (st *sandboxState) list(filter messageFilter, after string, part listPart) messageList {
	list := messageList{found: []Message{}, dropped: st.book.dropped}
	entries := st.book.entries
	if after != "" {
		cursor := slices.Index(entries, st.book.byID[after])
		if cursor < 0 {
			list.isCursorGone = true
			return list
		}
		entries = entries[cursor+1:]
	}
	var selected []*entry
	for _, e := range entries {
		if filter.selects(e) {
			selected = append(selected, e)
		}
	}
	list.total = len(selected)
	for _, e := range window(selected, part) {
		list.found = append(list.found, st.message(e))
	}
	return list
}

// errNoSuchCursor is the error of a cursor that is no message and no answer.
var errNoSuchCursor = &httpError{status: errNoSuchMessage.status, text: "after: " + errNoSuchMessage.text}

// getMessages returns messages, as soon as there is one.
func (s *Sandbox) getMessages(r *request) (any, error) {
	filter := messageFilter{
		channel:      oneOf(r, "channel", errChannel, channels()),
		state:        oneOf(r, "state", errState, states()),
		recipientKey: recipientKeyOf(r.param("to")),
		from:         r.param("from"),
		text:         strings.ToLower(r.param("text")),
		reference:    r.param("reference"),
	}
	after := r.param("after")
	part := r.part(after != "")
	wait := r.wait()
	if err := r.check(); err != nil {
		return nil, err
	}
	var list messageList
	_, err := s.waitUntil(r.Context(), wait, func(st *sandboxState) bool {
		list = st.list(filter, after, part)
		return list.isCursorGone || len(list.found) > 0
	})
	switch {
	case err != nil:
		return nil, err
	case list.isCursorGone:
		return nil, errNoSuchCursor
	case wait > 0 && len(list.found) == 0:
		return nil, timeoutError("no such message came", wait, "the newest are", s.newest())
	}
	return map[string]any{"messages": list.found, "total": list.total, "dropped": list.dropped}, nil
}

// getReplies returns the answers of recipients.
func (s *Sandbox) getReplies(r *request) (any, error) {
	filter := messageFilter{
		isAnswer:     true,
		channel:      oneOf(r, "channel", errChannel, channels()),
		recipientKey: recipientKeyOf(r.param("from")),
		text:         strings.ToLower(r.param("text")),
	}
	after := r.param("after")
	part := r.part(after != "")
	if err := r.check(); err != nil {
		return nil, err
	}
	st := s.lock()
	defer st.unlock()
	list := st.list(filter, after, part)
	if list.isCursorGone {
		return nil, errNoSuchCursor
	}
	return map[string]any{"replies": list.found, "total": list.total, "dropped": list.dropped}, nil
}

// getMessage returns one message, as soon as it exists and has reached a state.
func (s *Sandbox) getMessage(r *request) (any, error) {
	state := oneOf(r, "state", errState, states())
	wait := r.wait()
	if err := r.check(); err != nil {
		return nil, err
	}
	var m Message
	exists := false
	hasReached, err := s.waitUntil(r.Context(), wait, func(st *sandboxState) bool {
		e := st.book.byID[r.PathValue("id")]
		exists = e != nil
		if !exists {
			return false
		}
		m = st.message(e)
		return state == "" || e.hasReached(state)
	})
	if err != nil || hasReached {
		return m, err
	}
	if !exists {
		if wait > 0 {
			return nil, timeoutError("no such message came", wait, "the newest are", s.newest())
		}
		return nil, errNoSuchMessage
	}
	now := string(cmp.Or(m.State, "accepted"))
	missing := fmt.Sprintf("the message has not reached the state %s", state)
	if wait > 0 {
		return nil, timeoutError(missing, wait, "it is", []string{now})
	}
	return nil, &httpError{status: http.StatusConflict, text: missing + ": it is " + now}
}

// newest describes the latest messages and answers, the newest first.
func (s *Sandbox) newest() (all []string) {
	const limit = 5
	st := s.lock()
	defer st.unlock()
	for _, e := range slices.Backward(st.book.entries[max(0, len(st.book.entries)-limit):]) {
		all = append(all, e.describe())
	}
	return all
}
