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
	At          time.Time       `json:"at"`    // now by default
	State       contract.Status `json:"state"` // delivered by default, unless SendStatus is set

	// A listing shows these. They have the names of the columns of the command list.
	CategoryID string    `json:"categoryID"`
	Sent       time.Time `json:"sent"`
	SendStatus string    `json:"sendStatus"`
	Price      string    `json:"price"`
	Currency   string    `json:"currency"`
	Operator   string    `json:"operator"`
	Country    string    `json:"country"`
}

// validate returns an error if a seed is incomplete, or cannot have been sent by now. The service checks the rest.
func (m seed) validate(now time.Time) error {
	switch {
	case m.Channel != "" && channelName(m.Channel) == "":
		return errChannel
	case strings.TrimSpace(m.To) == "":
		return errors.New("to is missing: the recipient")
	case len(m.To) > maxName || len(m.ID) > maxName:
		return fmt.Errorf("to and id must be texts of up to %d bytes", maxName)
	case m.At.After(now):
		return errors.New("at must not be after the clock of the sandbox")
	case m.State != "" && !slices.Contains(states(), m.State):
		return errState
	}
	return nil
}

// message returns the message for the service.
func (m seed) message() messagingtest.Sent {
	sent := messagingtest.Sent{
		ID:          m.ID,
		Channel:     m.Channel,
		Kind:        "text",
		From:        m.From,
		To:          m.To,
		Text:        m.Text,
		Template:    m.Template,
		ReferenceID: m.ReferenceID,
		At:          m.At,
		Status:      m.State,
		StatusAt:    m.At,
		CategoryID:  m.CategoryID,
		SentAt:      m.Sent,
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
	return sent
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
		if err := m.validate(st.now()); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		if st.book.byID[m.ID] != nil {
			return nil, fmt.Errorf("message %d: the ID %q is taken", i, m.ID)
		}
		messages = append(messages, m.message())
	}
	entered, err := s.service.TrySeed(messages...)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "messagingtest: "))
	}
	var ids []string
	for _, m := range entered {
		st.seeds[m.ID] = true
		st.messageDeliveries[m.ID] = deliveryBody{Outcome: outcomeDelivered} // not that of its recipient, which is for new messages
		ids = append(ids, m.ID)
	}
	return ids, nil
}
