package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
)

// A Receiver makes handlers for the callbacks of the service, and parses them. Get one from [NewReceiver]. It never changes,
// and many goroutines may use it at once.
type Receiver struct {
	contract contract.Contract
	sms      *callback
	chatApp1 *callback
	chatApp2 *callback
	delivery *callback
	statuses map[string]Status // by a status as it arrives, in lower case

	secrets      []secret
	pathSecrets  []secret
	verifiers    []func(*http.Request) error
	store        Store
	window       time.Duration
	timeout      time.Duration
	post         bool
	maxParams    int
	maxBytes     int
	logger       *slog.Logger
	onReject     func(*http.Request, error)
	handleStatus func(context.Context, DeliveryReport) error
	noStore      []string // the value of a header, the same in every response
}

// Callback names one of the four callbacks.
type Callback string

// The callbacks of the service.
const (
	CallbackSMS      Callback = "sms"
	CallbackChatApp1 Callback = "chatapp1"
	CallbackChatApp2 Callback = "chatapp2"
	CallbackDelivery Callback = "delivery"
)

// callback is one of the four callbacks, as the contract describes it.
type callback struct {
	name         Callback
	names        [][]name            // of parameters, by their length
	placeholders [numConcepts]string // what stands for a value that the service did not fill in
	zone         *time.Location
	readsJSON    bool // in the shape of the platform
}

// name is the name of a parameter.
type name struct {
	text     string
	concepts []concept
}

// add adds the names of a concept.
func (c *callback) add(of concept, names []string) {
	for _, text := range names {
		for len(c.names) <= len(text) {
			c.names = append(c.names, nil)
		}
		same := c.names[len(text)]
		i := slices.IndexFunc(same, func(n name) bool { return n.text == text })
		if i < 0 {
			i, same = len(same), append(same, name{text: text})
		}
		same[i].concepts = append(same[i].concepts, of)
		c.names[len(text)] = same
	}
}

// conceptsOf returns what a parameter stands for. Few names have the same length, so this takes half as long as a map.
func (c *callback) conceptsOf(parameter string) []concept {
	if len(parameter) < len(c.names) {
		for i := range c.names[len(parameter)] {
			if n := &c.names[len(parameter)][i]; n.text == parameter {
				return n.concepts
			}
		}
	}
	return nil
}

// NewReceiver returns a Receiver. Without options it reads the default contract, takes GET only, asks for no secret and
// handles every call. The error joins one error for each option that makes no sense.
func NewReceiver(options ...Option) (*Receiver, error) {
	rcv := &Receiver{noStore: []string{"no-store"}, timeout: 30 * time.Second, window: 5 * time.Second, maxParams: 256, maxBytes: 64 << 10}
	var problems []error
	for i, option := range options {
		if option == nil {
			problems = append(problems, fmt.Errorf("webhook: option %d is nil", i+1))
			continue
		}
		problems = append(problems, option(rcv))
	}
	problems = append(problems, rcv.compile(), rcv.checkSecrets())
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return rcv, nil
}

// compile reads the contract.
func (rcv *Receiver) compile() error {
	t := rcv.contract.Table()
	var problems []error
	compileOne := func(name Callback, params map[string][]string, zone string) *callback {
		location, err := time.LoadLocation(zone)
		if err != nil {
			problems = append(problems, fmt.Errorf("webhook: WithContract: the zone of the %s callback: %w", name, err))
		}
		c := &callback{name: name, zone: location, readsJSON: name != CallbackSMS}
		for i, key := range conceptKeys() {
			c.add(concept(i), params[key])
		}
		return c
	}
	rcv.sms = compileOne(CallbackSMS, t.WebhookSMS.Params, t.WebhookSMS.Zone)
	rcv.chatApp1 = compileOne(CallbackChatApp1, t.WebhookChatApp1.Params, t.WebhookChatApp1.Zone)
	rcv.chatApp2 = compileOne(CallbackChatApp2, t.WebhookChatApp2.Params, t.WebhookChatApp2.Zone)
	rcv.delivery = compileOne(CallbackDelivery, t.WebhookDelivery.Params, t.WebhookDelivery.Zone)
	for i, key := range conceptKeys() {
		rcv.delivery.placeholders[i] = t.WebhookDelivery.Placeholders[key]
	}
	// Statuses of the platform arrive in the same parameters as its messages.
	rcv.delivery.add(conceptJSON, t.WebhookChatApp2.Params["json"])
	rcv.statuses = map[string]Status{string(StatusPlayed): StatusPlayed, string(StatusDeleted): StatusDeleted}
	for status, words := range t.WebhookDelivery.Statuses {
		for _, word := range words {
			rcv.statuses[strings.ToLower(word)] = Status(status)
		}
	}
	return errors.Join(problems...)
}

// checkSecrets reports parameters that cannot hold a secret.
func (rcv *Receiver) checkSecrets() error {
	var problems []error
	for i, s := range rcv.secrets {
		if rcv.secretOf(s.name) < i {
			problems = append(problems, errors.New("webhook: WithSecret: two options name the same parameter: merge them"))
		}
		for _, c := range []*callback{rcv.sms, rcv.chatApp1, rcv.chatApp2, rcv.delivery} {
			if len(c.conceptsOf(s.name)) > 0 {
				problems = append(problems, fmt.Errorf("webhook: WithSecret: the %s callback needs the parameter itself", c.name))
			}
		}
	}
	return errors.Join(problems...)
}
