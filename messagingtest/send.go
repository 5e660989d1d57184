package messagingtest

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Names of the fields that sends of several channels have, as the default contract has them. Of these the specification
// shows ttl alone.
const (
	fieldAPIKey       = "apiKey"
	fieldAPISecret    = "apiSecret"
	fieldCallback     = "dlrCallback"
	fieldReport       = "dlrReport"
	fieldReference    = "referenceId"
	fieldTTL          = "ttl"
	fieldFallbackFrom = "sms_from"
	fieldFallbackText = "sms_text"
)

// submission is a message that is in order, but not accepted yet.
type submission struct {
	Sent
	strict bool // chat app 2: by the marketing-messages interface, or not at all
	toUser bool // chat app 2: To is a user ID, not a number and not a group
}

// receipt is what is told about a message that was accepted. Numbers are strings: met so more often.
type receipt struct {
	ID              string `json:"id"`
	RequestID       string `json:"requestId"`
	ReferenceID     string `json:"referenceId,omitzero"`
	MessageParts    string `json:"messageParts"`
	UnitCost        string `json:"unitCost"`
	TransactionCost string `json:"transactionCost"`
	Remaining       string `json:"remaining"`
	OperatorCode    string `json:"operatorCode"`
}

func receiptOf(m Sent, cost, remaining string) receipt {
	return receipt{
		ID:              m.ID,
		RequestID:       m.RequestID,
		ReferenceID:     m.ReferenceID,
		MessageParts:    strconv.Itoa(m.Parts),
		UnitCost:        unitCost,
		TransactionCost: cost,
		Remaining:       remaining,
		OperatorCode:    operator,
	}
}

// confirmData is the answer of SMS and of chat app 1.
func confirmData(_ submission, told receipt) answer { return succeed(told) }

// sends is the operation of a channel, made of what differs between the channels.
func (s *Server) sends(read func(object) (submission, flaw), confirm func(submission, receipt) answer) operation {
	return operation{http.MethodPost, func(requestID string, r *http.Request, body []byte) answer {
		fields, notObject := readObject(body)
		if problem := s.credentials.problem(r.Header, pairOfBody(fields)); problem != "" {
			return refuse(requestID, http.StatusUnauthorized, codeUnauthorized, problem)
		}
		if !isJSON(r.Header) {
			return refuse(requestID, http.StatusBadRequest, codeContentType, "the content type is not application/json in UTF-8")
		}
		if notObject != nil {
			return refuse(requestID, http.StatusBadRequest, codeBody, "the body is not one JSON object in UTF-8 with distinct names")
		}
		message, wrong := read(fields)
		if wrong.found() {
			return refuse(requestID, http.StatusBadRequest, wrong.code, wrong.text)
		}
		message.RequestID = requestID
		message.Body = bodyOf(fields, body)
		return s.submit(message, confirm)
	}}
}

// submit accepts a message, unless the state of the server is against it.
func (s *Server) submit(message submission, confirm func(submission, receipt) answer) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ledger.isDuplicate(message.Sent) {
		return refuse(message.RequestID, http.StatusConflict, codeDuplicate, "the reference is that of a message which was accepted before")
	}
	if message.Channel == ChannelChatApp2 && !s.routing.route(&message) {
		return refuse(message.RequestID, http.StatusBadRequest, codeRoute, "the marketing-messages route cannot be used, and product_policy is STRICT")
	}
	told, ok := s.ledger.accept(message.Sent)
	if !ok {
		return refuse(message.RequestID, http.StatusBadRequest, codeInsufficientBalance, "insufficient balance")
	}
	return confirm(message, told)
}

// bodyOf is the body without its credentials.
func bodyOf(fields object, body []byte) json.RawMessage {
	if !pairOfBody(fields).present {
		return slices.Clone(body)
	}
	rest, err := withoutMembers(body, fieldAPIKey, fieldAPISecret)
	if err != nil {
		panic("messagingtest: " + err.Error()) // it was read before: a mistake in this package
	}
	return rest
}

// stringField is a field that holds a string, and where it goes.
type stringField struct {
	name   string
	target *string
}

// readStrings reads what is there of these.
func (o object) readStrings(list ...stringField) flaw {
	for _, field := range list {
		if _, present := o[field.name]; !present {
			continue
		}
		var isString bool
		if *field.target, isString = o.text(field.name); !isString {
			return flaw{codeKind, field.name + " is not a string"}
		}
	}
	return flaw{}
}

// checkCallback looks at dlrCallback, which has been read into url, and at dlrReport.
func (o object) checkCallback(url string) flaw {
	_, hasCallback := o[fieldCallback]
	report, hasReport := o[fieldReport]
	switch {
	case hasReport && string(report) != "1":
		return flaw{codeKind, "dlrReport is not the number 1"}
	case hasReport != hasCallback:
		return flaw{codeCallback, "dlrCallback and dlrReport go together"}
	case hasCallback && !isWebAddress(url):
		return flaw{codeCallback, "dlrCallback is not an http or https URL"}
	}
	return flaw{}
}

// readDelivery reads the fields that both chat apps have beside the message.
func (o object) readDelivery(m *Sent) flaw {
	if wrong := o.readStrings(
		stringField{fieldFallbackFrom, &m.FallbackFrom},
		stringField{fieldFallbackText, &m.FallbackText},
		stringField{fieldCallback, &m.CallbackURL},
		stringField{fieldReference, &m.ReferenceID},
	); wrong.found() {
		return wrong
	}
	_, hasFrom := o[fieldFallbackFrom]
	_, hasText := o[fieldFallbackText]
	switch {
	case hasFrom != hasText:
		return flaw{codeFallback, "sms_from and sms_text go together"}
	case hasFrom && (m.FallbackFrom == "" || m.FallbackText == ""):
		return flaw{codeFallback, "sms_from or sms_text is empty"}
	}
	if raw, given := o[fieldTTL]; given {
		var ok bool
		if m.TTL, ok = readTTL(raw); !ok {
			return flaw{codeLifetime, "ttl is not a whole number of seconds above zero"}
		}
	}
	return o.checkCallback(m.CallbackURL)
}

// readTTL takes digits only: 60.0 and 6e1 are the same number, but not what a client should write.
func readTTL(raw json.RawMessage) (time.Duration, bool) {
	seconds, err := strconv.ParseUint(string(raw), 10, 63)
	if err != nil || seconds == 0 || seconds > math.MaxInt64/uint64(time.Second) {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}

// extra is what is left beside the fields that are known.
func (o object) extra(known func(name string) bool) map[string]json.RawMessage {
	var extra map[string]json.RawMessage
	for name, value := range o {
		if name == fieldAPIKey || name == fieldAPISecret || known(name) {
			continue
		}
		if extra == nil {
			extra = map[string]json.RawMessage{}
		}
		extra[name] = value
	}
	return extra
}
