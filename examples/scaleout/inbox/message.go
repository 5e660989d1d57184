package inbox

import (
	"encoding/json"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

// The stored types embed those of package webhook and redefine the fields that are stored in another form.

type storedSMS struct {
	webhook.SMSMessage
	ReceivedAt time.Time
	RawQuery   []byte
}

func newStoredSMS(m webhook.SMSMessage) storedSMS {
	return storedSMS{SMSMessage: m, ReceivedAt: jsonTime(m.ReceivedAt), RawQuery: []byte(m.RawQuery)}
}

func (s storedSMS) message() (webhook.SMSMessage, error) {
	m := s.SMSMessage
	m.ReceivedAt, m.RawQuery = s.ReceivedAt, string(s.RawQuery)
	return m, nil
}

type storedReport struct {
	webhook.DeliveryReport
	StatusAt time.Time
	JSON     json.RawMessage `json:",omitempty"`
	RawQuery []byte
}

func newStoredReport(d webhook.DeliveryReport) storedReport {
	return storedReport{DeliveryReport: d, StatusAt: jsonTime(d.StatusAt), JSON: d.JSON, RawQuery: []byte(d.RawQuery)}
}

func (s storedReport) message() (webhook.DeliveryReport, error) {
	d := s.DeliveryReport
	d.StatusAt, d.JSON, d.RawQuery = s.StatusAt, s.JSON, string(s.RawQuery)
	return d, nil
}

type storedChat struct {
	webhook.ChatMessage
	Content    storedContent
	ReceivedAt time.Time
	JSON       json.RawMessage `json:",omitempty"`
	RawQuery   []byte
}

func newStoredChat(m webhook.ChatMessage) (storedChat, error) {
	content, err := newStoredContent(m.Content, m.JSON)
	return storedChat{ChatMessage: m, Content: content, ReceivedAt: jsonTime(m.ReceivedAt), JSON: m.JSON, RawQuery: []byte(m.RawQuery)}, err
}

func (s storedChat) message() (webhook.ChatMessage, error) {
	m := s.ChatMessage
	content, err := s.Content.content()
	m.Content, m.ReceivedAt, m.JSON, m.RawQuery = content, s.ReceivedAt, s.JSON, string(s.RawQuery)
	return m, err
}

// jsonTime returns at in a form that JSON can hold: unchanged, in UTC, or as the zero time if neither is possible. A sender can write
// a year after 9999 or an offset of 24 hours; the original text stays in Params.
func jsonTime(at time.Time) time.Time {
	for _, at := range []time.Time{at, at.UTC()} {
		if _, err := at.MarshalJSON(); err == nil {
			return at
		}
	}
	return time.Time{}
}
