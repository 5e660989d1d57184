package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
)

// A Receiver makes handlers for the callbacks of the service, and parses them. Get one from [NewReceiver]. It never changes,
// and many goroutines may use it at once.
type Receiver struct {
	contract  contract.Contract
	callbacks map[Callback]*callback

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
	observers    []observing
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
	paths        []path              // of parameters in a JSON body
	events       []path              // where a JSON body may hold several events
	zone         *time.Location
	layouts      []string // further forms of times
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
			if strings.Contains(text, ".") {
				c.paths = append(c.paths, newPath(text))
			}
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

// needs reports whether the callback reads a parameter, or members of it.
func (c *callback) needs(parameter string) bool {
	begins := func(p path) bool { return len(p.names) > 0 && p.names[0] == parameter }
	return len(c.conceptsOf(parameter)) > 0 || slices.ContainsFunc(c.paths, begins) || slices.ContainsFunc(c.events, begins)
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
	rcv.callbacks = map[Callback]*callback{}
	var problems []error
	for name, section := range t.Webhooks() {
		zone, err := time.LoadLocation(section.Zone)
		if err != nil {
			problems = append(problems, fmt.Errorf("webhook: WithContract: the zone of the %s callback: %w", name, err))
		}
		c := &callback{name: Callback(name), zone: zone, layouts: section.Layouts}
		for _, text := range section.Events {
			c.events = append(c.events, newPath(text))
		}
		for i, key := range conceptKeys() {
			c.add(concept(i), section.Params[key])
			if c.name == CallbackDelivery {
				c.placeholders[i] = t.WebhookDelivery.Placeholders[key]
			}
		}
		rcv.callbacks[c.name] = c
	}
	// Statuses of the platform arrive in the same parameters as its messages.
	rcv.callbacks[CallbackDelivery].add(conceptJSON, t.WebhookChatApp2.Params["json"])
	return errors.Join(problems...)
}

// checkSecrets reports parameters that cannot hold a secret.
func (rcv *Receiver) checkSecrets() error {
	var problems []error
	for i, s := range rcv.secrets {
		if rcv.secretOf(s.name) < i {
			problems = append(problems, errors.New("webhook: WithSecret: two options name the same parameter: merge them"))
		}
		for _, name := range slices.Sorted(maps.Keys(rcv.callbacks)) {
			if rcv.callbacks[name].needs(s.name) {
				problems = append(problems, fmt.Errorf("webhook: WithSecret: the %s callback needs the parameter itself", name))
			}
		}
	}
	return errors.Join(problems...)
}
