package messagingtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Names of the fields of a send request, as the default contract has them. The specification shows none of them.
const (
	fieldAPIKey    = "apiKey"
	fieldAPISecret = "apiSecret"
	fieldFrom      = "from"
	fieldTo        = "to"
	fieldText      = "text"
	fieldCallback  = "dlrCallback"
	fieldReport    = "dlrReport"
	fieldReference = "referenceId"
)

// smsReceipt is what is told about a message that was accepted. Numbers are strings: met so more often.
type smsReceipt struct {
	ID              string `json:"id"`
	RequestID       string `json:"requestId"`
	ReferenceID     string `json:"referenceId,omitzero"`
	MessageParts    string `json:"messageParts"`
	UnitCost        string `json:"unitCost"`
	TransactionCost string `json:"transactionCost"`
	Remaining       string `json:"remaining"`
	OperatorCode    string `json:"operatorCode"`
}

func (s *Server) sendSMS(requestID string, r *http.Request, body []byte) answer {
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
	message, code, problem := readSMS(fields)
	if problem != "" {
		return refuse(requestID, http.StatusBadRequest, code, problem)
	}

	message.RequestID = requestID

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ledger.isDuplicate(message) {
		return refuse(requestID, http.StatusConflict, codeDuplicate, "the reference is that of a message which was accepted before")
	}
	receipt, ok := s.ledger.accept(message)
	if !ok {
		return refuse(requestID, http.StatusBadRequest, codeInsufficientBalance, "insufficient balance")
	}
	return succeed(receipt)
}

// readSMS returns the message, or the code and the description of the first thing that is wrong with it.
// A description names fields and never repeats a value.
func readSMS(fields object) (message Sent, code, problem string) {
	for _, field := range []struct {
		name   string
		target *string
	}{
		{fieldFrom, &message.From},
		{fieldTo, &message.To},
		{fieldText, &message.Text},
		{fieldCallback, &message.CallbackURL},
		{fieldReference, &message.ReferenceID},
	} {
		if _, present := fields[field.name]; !present {
			continue
		}
		var isString bool
		if *field.target, isString = fields.text(field.name); !isString {
			return message, codeKind, field.name + " is not a string"
		}
	}
	_, hasCallback := fields[fieldCallback]
	report, hasReport := fields[fieldReport]
	switch {
	case message.From == "":
		return message, codeMissing, "from is absent or empty"
	case message.To == "":
		return message, codeMissing, "to is absent or empty"
	case message.Text == "":
		return message, codeMissing, "text is absent or empty"
	case !isRecipient(message.To):
		return message, codeRecipient, "to is not 5 to 15 digits with an optional +"
	case hasReport && string(report) != "1":
		return message, codeKind, "dlrReport is not the number 1"
	case hasReport != hasCallback:
		return message, codeCallback, "dlrCallback and dlrReport go together"
	case hasCallback && !isWebAddress(message.CallbackURL):
		return message, codeCallback, "dlrCallback is not an http or https URL"
	}
	for name, value := range fields {
		switch name {
		case fieldAPIKey, fieldAPISecret, fieldFrom, fieldTo, fieldText, fieldCallback, fieldReport, fieldReference:
		default:
			if message.Extra == nil {
				message.Extra = map[string]json.RawMessage{}
			}
			message.Extra[name] = value
		}
	}
	message.Parts = countParts(message.Text)
	return message, "", ""
}

func isRecipient(s string) bool {
	digits := strings.TrimPrefix(s, "+")
	return len(digits) >= 5 && len(digits) <= 15 && strings.Trim(digits, "0123456789") == ""
}

// isWebAddress looks at the scheme and the host only. What follows is a template: its placeholders, such as %s, need
// not be valid escapes.
func isWebAddress(s string) bool {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return false
	}
	scheme, rest, _ := strings.Cut(s, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	u, err := url.Parse(scheme + "://" + rest)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

func receiptOf(m Sent, cost, remaining string) smsReceipt {
	return smsReceipt{
		ID:              m.ID,
		RequestID:       m.RequestID,
		ReferenceID:     m.ReferenceID,
		MessageParts:    strconv.Itoa(m.Parts),
		UnitCost:        unitCost,
		TransactionCost: cost,
		Remaining:       remaining,
		OperatorCode:    "OP_1",
	}
}
