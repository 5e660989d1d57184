package messagingtest

import (
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// submission is a message that is valid, but not accepted yet.
type submission struct {
	Sent
	strict bool   // chat app 2: by the marketing-messages interface, or not at all
	toUser bool   // chat app 2: To is a user ID, not a number or a group
	left   amount // of the balance, once the message is accepted
}

// sends returns the operation of a channel that sends.
func (s *Server) sends(
	n sendNames, read func(fields) (submission, *problem), confirm func(sendNames, submission) any,
) operation {
	return operation{http.MethodPost, func(requestID string, r *http.Request, body []byte) (any, *problem) {
		members, err := readObject(body)
		keys, secrets := members.take(s.names.auth["key"]), members.take(s.names.auth["secret"])
		if p := s.authorize(r.Header, keys, secrets); p != nil {
			return nil, p
		}
		switch {
		case !isJSON(r.Header):
			return nil, &problem{codeContentType, "the content type is not application/json in UTF-8"}
		case err != nil:
			return nil, &problem{codeBody, err.Error()}
		}
		m, p := read(fields{members, n})
		if p != nil {
			return nil, p
		}
		m.RequestID, m.Body = requestID, body
		if len(keys) > 0 {
			m.Body = encode(members)
		}
		if p := s.submit(&m); p != nil {
			return nil, p
		}
		return confirm(n, m), nil
	}}
}

// submit accepts a message, unless the state of the server is against it.
func (s *Server) submit(m *submission) *problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ledger.isDuplicate(m.Sent):
		return &problem{codeDuplicate, "a message with this reference was accepted before"}
	case m.Channel == ChannelChatApp2 && !s.route(m):
		return &problem{codeRoute, "the marketing-messages route is not available, and product_policy is STRICT"}
	case !s.ledger.accept(m):
		return &problem{codeInsufficientBalance, "insufficient balance"}
	}
	return nil
}

// confirm returns the response of SMS and chat app 1. Numbers are strings, as in most services of the kind.
func confirm(n sendNames, m submission) any {
	body := document{}
	for concept, value := range (table{
		"status": n.accepted, "id": m.ID, "request": m.RequestID, "reference": m.ReferenceID, "parts": strconv.Itoa(m.Parts),
		"unitCost": unitCost.String(), "cost": priceOf(m.Parts).String(), "balance": m.left.String(),
		"operator": operator,
	}) {
		if value != "" {
			body.set(n.response[concept], value)
		}
	}
	return body
}

func isJSON(header http.Header) bool {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset, given := params["charset"]
	return err == nil && kind == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

// fields are the members of a request to send. Their methods take concepts.
type fields struct {
	members object
	names   sendNames
}

func (f fields) name(concept string) string { return f.names.fields[concept] }

func (f fields) has(concept string) bool { return f.members[f.name(concept)] != nil }

// text returns "" for a field that is absent.
func (f fields) text(concept string) string { return f.members.text(f.name(concept)) }

func (f fields) check(rules ...rule) *problem {
	return checkMembers("", f.members, f.names.fields, rules)
}

// checkCompanions checks the fields that come with another one, and only with it.
func (f fields) checkCompanions() *problem {
	for _, concept := range slices.Sorted(maps.Keys(f.names.with)) {
		for name, want := range f.names.with[concept] {
			value, present := f.members[name]
			switch {
			case present && string(value) != want:
				return &problem{codeKind, name + " is not " + want}
			case present != f.has(concept):
				return &problem{codeCallback, f.name(concept) + " and " + name + " go together"}
			}
		}
	}
	return nil
}

// known returns the names of all fields of the channel.
func (f fields) known() []string {
	known := slices.Collect(maps.Values(f.names.fields))
	for _, companions := range f.names.with {
		known = slices.AppendSeq(known, maps.Keys(companions))
	}
	return known
}

// extra returns the members that are not known, or nil.
func (f fields) extra(known []string) map[string]json.RawMessage {
	extra := maps.Clone(f.members)
	maps.DeleteFunc(extra, func(name string, _ json.RawMessage) bool { return slices.Contains(known, name) })
	if len(extra) == 0 {
		return nil
	}
	return extra
}

func readSMS(f fields) (submission, *problem) {
	if p := f.check(
		need("from", isFilled), need("to", isRecipient), need("text", isFilled), may("callback", isCallback), may("reference", isText),
	); p != nil {
		return submission{}, p
	}
	m := Sent{
		Channel:     ChannelSMS,
		Kind:        "text",
		From:        f.text("from"),
		To:          f.text("to"),
		Text:        f.text("text"),
		CallbackURL: f.text("callback"),
		ReferenceID: f.text("reference"),
		Extra:       f.extra(f.known()),
	}
	m.Parts = countParts(m.Text)
	return submission{Sent: m}, f.checkCompanions()
}

// readDelivery reads what both chat apps have beside the message itself.
func (f fields) readDelivery(m *Sent) *problem {
	if p := f.check(
		may("ttl", isLifetime), may("fallbackFrom", isText), may("fallbackText", isText),
		may("callback", isCallback), may("reference", isText),
	); p != nil {
		return p
	}
	m.TTL = secondsOf(f.members[f.name("ttl")])
	m.FallbackFrom, m.FallbackText = f.text("fallbackFrom"), f.text("fallbackText")
	m.CallbackURL, m.ReferenceID = f.text("callback"), f.text("reference")
	switch {
	case f.has("fallbackFrom") != f.has("fallbackText"):
		return &problem{codeFallback, f.name("fallbackFrom") + " and " + f.name("fallbackText") + " go together"}
	case f.has("fallbackFrom") && (m.FallbackFrom == "" || m.FallbackText == ""):
		return &problem{codeFallback, f.name("fallbackFrom") + " or " + f.name("fallbackText") + " is empty"}
	}
	return f.checkCompanions()
}
