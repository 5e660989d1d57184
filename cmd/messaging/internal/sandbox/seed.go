package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// A seed is a message that a program sent before the test, such as yesterday.
type seed struct {
	ID          string          `json:"id"`
	Channel     string          `json:"channel"` // SMS by default
	From        string          `json:"from"`
	To          string          `json:"to"`
	Text        string          `json:"text"`
	Template    string          `json:"template"`
	ReferenceID string          `json:"referenceID"`
	At          string          `json:"at"`    // in RFC 3339; now by default
	State       contract.Status `json:"state"` // delivered by default, unless SendStatus is set

	// A listing shows these. They have the names of the columns of the command list.
	CategoryID string `json:"categoryID"`
	Sent       string `json:"sent"` // in RFC 3339
	SendStatus string `json:"sendStatus"`
	Price      string `json:"price"`
	Currency   string `json:"currency"`
	Operator   string `json:"operator"`
	Country    string `json:"country"`
}

// validate returns an error if a seed is incomplete or has an unknown value. The service checks the rest.
func (m seed) validate() error {
	switch {
	case m.Channel != "" && channelName(m.Channel) == "":
		return errChannel
	case strings.TrimSpace(m.To) == "":
		return errors.New("to is missing: the recipient")
	case len(m.To) > maxName || len(m.ID) > maxName:
		return fmt.Errorf("to and id must be texts of up to %d bytes", maxName)
	case m.State != "" && !slices.Contains(states(), m.State):
		return errState
	}
	return nil
}

// message returns the message for the service, or an error if a program cannot have sent it by now.
func (m seed) message(now time.Time) (messagingtest.Sent, error) {
	if err := m.validate(); err != nil {
		return messagingtest.Sent{}, err
	}
	at, err := parseTime("at", m.At, now)
	if err != nil {
		return messagingtest.Sent{}, err
	}
	sentAt, err := parseTime("sent", m.Sent, now)
	if err != nil {
		return messagingtest.Sent{}, err
	}
	sent := messagingtest.Sent{
		ID:          m.ID,
		Channel:     m.Channel,
		Kind:        "text",
		From:        m.From,
		To:          m.To,
		Text:        m.Text,
		Template:    m.Template,
		ReferenceID: m.ReferenceID,
		At:          at,
		Status:      m.State,
		StatusAt:    at,
		CategoryID:  m.CategoryID,
		SentAt:      sentAt,
		SendStatus:  m.SendStatus,
		Price:       m.Price,
		Currency:    m.Currency,
		Operator:    m.Operator,
		Country:     m.Country,
	}
	if m.Template != "" {
		sent.Kind = "template"
	}
	if m.State == "" && m.SendStatus == "" {
		sent.Status = contract.StatusDelivered
	}
	return sent, nil
}

// parseTime parses a time of a request that is not after the clock of the sandbox; an absent one is zero.
func parseTime(name, text string, clock time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("%s must be a time such as 2026-03-01T09:00:00Z", name)
	case at.After(clock):
		return time.Time{}, fmt.Errorf("%s must not be after the clock of the sandbox", name)
	}
	return at, nil
}

type seedsBody struct {
	Messages []seed `json:"messages"`
}

// postMessages enters messages of earlier times, all or none, and returns their IDs. No webhook is called for them.
func (s *Sandbox) postMessages(r *request, body seedsBody) (any, error) {
	const maxSeeds = 1000
	if len(body.Messages) == 0 || len(body.Messages) > maxSeeds {
		return nil, fmt.Errorf("messages must have 1 to %d messages", maxSeeds)
	}
	ids, err := s.seed(body.Messages)
	if err != nil {
		return nil, err
	}
	// They are entered like all messages, when the service reports them.
	_, _ = s.waitUntil(r.Context(), time.Minute, func(st *sandboxState) bool { return len(st.seeds) == 0 })
	return map[string]any{"ids": ids}, nil
}

// seed puts messages into the ledger and returns their IDs.
func (s *Sandbox) seed(seeds []seed) ([]string, error) {
	st := s.lock()
	defer st.unlock()
	var messages []messagingtest.Sent
	for i, m := range seeds {
		message, err := m.message(st.now())
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		if st.book.byID[m.ID] != nil {
			return nil, fmt.Errorf("message %d: the ID %q is taken", i, m.ID)
		}
		messages = append(messages, message)
	}
	entered, err := s.service.TrySeed(messages...)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "messagingtest: "))
	}
	var ids []string
	for _, m := range entered {
		st.seeds[m.ID] = true
		st.messageDeliveries[m.ID] = deliveryBody{Outcome: outcomeDelivered} // the outcome of its recipient is for new messages
		ids = append(ids, m.ID)
	}
	return ids, nil
}
