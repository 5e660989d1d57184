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
	Status     string
	ReceivedAt time.Time
	RawQuery   []byte
}

func newStoredReport(d webhook.DeliveryReport) storedReport {
	return storedReport{DeliveryReport: d, Status: d.Status.String(), ReceivedAt: jsonTime(d.ReceivedAt), RawQuery: []byte(d.RawQuery)}
}

func (s storedReport) message() (webhook.DeliveryReport, error) {
	d := s.DeliveryReport
	d.ReceivedAt, d.RawQuery = s.ReceivedAt, string(s.RawQuery)
	for status := webhook.StatusUnknown; status <= webhook.StatusRejected; status++ {
		if status.String() == s.Status {
			d.Status = status
		}
	}
	return d, nil
}

// storedChatApp is the stored form of a message of either chat app; both types have the same fields.
type storedChatApp struct {
	webhook.ChatApp1Message
	Content    storedContent
	ReceivedAt time.Time
	JSON       json.RawMessage `json:",omitempty"`
	RawQuery   []byte
}

func encodeChatApp(m webhook.ChatApp1Message) ([]byte, error) {
	content, err := newStoredContent(m.Content, m.JSON)
	if err != nil {
		return nil, err
	}
	return json.Marshal(storedChatApp{
		ChatApp1Message: m, Content: content, ReceivedAt: jsonTime(m.ReceivedAt), JSON: m.JSON, RawQuery: []byte(m.RawQuery),
	})
}

func (s storedChatApp) message() (webhook.ChatApp1Message, error) {
	m := s.ChatApp1Message
	content, err := s.Content.content()
	m.Content, m.ReceivedAt, m.JSON, m.RawQuery = content, s.ReceivedAt, s.JSON, string(s.RawQuery)
	return m, err
}

// jsonTime returns at in a form that JSON can hold: unchanged, in UTC, or else as the zero time. A sender can write a year after 9999 or an
// offset of 24 hours; the original text stays in Params.
func jsonTime(at time.Time) time.Time {
	for _, at := range []time.Time{at, at.UTC()} {
		if _, err := at.MarshalJSON(); err == nil {
			return at
		}
	}
	return time.Time{}
}
