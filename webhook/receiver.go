package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
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
	concepts     map[string][]concept // by the name of a parameter
	placeholders [numConcepts]string  // what stands for a value that the service did not fill in
	zone         *time.Location
	readsJSON    bool // in the shape of the platform
}

// NewReceiver returns a Receiver. Without options it reads the default contract, takes GET only, asks for no secret and
// handles every call. The error joins one error for each option that makes no sense.
func NewReceiver(options ...Option) (*Receiver, error) {
	rcv := &Receiver{timeout: 30 * time.Second, window: 5 * time.Second, maxParams: 256, maxBytes: 64 << 10}
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
		c := &callback{name: name, concepts: map[string][]concept{}, zone: location, readsJSON: name != CallbackSMS}
		for i, key := range conceptKeys() {
			for _, name := range params[key] {
				c.concepts[name] = append(c.concepts[name], concept(i))
			}
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
	for _, name := range t.WebhookChatApp2.Params["json"] {
		rcv.delivery.concepts[name] = append(rcv.delivery.concepts[name], conceptJSON)
	}
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
	taken := map[string]bool{}
	for _, s := range rcv.secrets {
		if taken[s.name] {
			problems = append(problems, errors.New("webhook: WithSecret: two options name the same parameter; give all secrets of a parameter to one"))
		}
		taken[s.name] = true
		for _, c := range []*callback{rcv.sms, rcv.chatApp1, rcv.chatApp2, rcv.delivery} {
			if len(c.concepts[s.name]) > 0 {
				problems = append(problems, fmt.Errorf("webhook: WithSecret: the %s callback needs the parameter for the event itself", c.name))
			}
		}
	}
	return errors.Join(problems...)
}
