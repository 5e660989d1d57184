package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
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
	observers    []func() Observer
	fields       []string // of the platform's changes that are read, beside the live one
	otherFields  *otherFields
	onReject     func(*http.Request, error)
	handleStatus func(context.Context, DeliveryReport) error
	noStore      []string // the value of a header, the same in every response
}

// callback is a callback as the contract describes it.
type callback struct {
	*Receiver

	name         Callback
	concepts     map[string][]concept // by the names of parameters, what they stand for
	placeholders [numConcepts]string  // what stands for a value that the service did not fill in
	paths        *paths               // of parameters in a JSON body; nil for none
	outer        map[string]*paths    // of parameters beside a list of events, by the path of the list up to a *
	events       []eventsPath         // where a JSON body may hold several events
	zone         *time.Location
	layouts      []string    // further forms of times
	reply        table.Reply // to a call that was handled
}

func (c *callback) isChat() bool { return c.name != CallbackSMS && c.name != CallbackDelivery }

func (c *callback) add(of concept, names []string) {
	for _, name := range names {
		list, inElement := cutElement(name)
		switch {
		case c.concepts[name] != nil || !strings.Contains(inElement, "."):
		case list != "":
			if c.outer[list] == nil {
				c.outer[list] = new(paths)
			}
			c.outer[list].add(inElement)
		case c.paths == nil:
			c.paths = newPaths(name)
		default:
			c.paths.add(name)
		}
		c.concepts[name] = append(c.concepts[name], of)
	}
}

// needs reports whether the callback reads a parameter, or members of it.
func (c *callback) needs(parameter string) bool {
	for name := range c.concepts {
		if _, name = cutElement(name); name == parameter || strings.HasPrefix(name, parameter+".") {
			return true
		}
	}
	return slices.ContainsFunc(c.events, func(e eventsPath) bool { return e.parameter() == parameter })
}

// NewReceiver returns a Receiver. Without options it reads the default contract, takes GET only, asks for no secret and
// handles every call. The error joins one error for each option that makes no sense.
func NewReceiver(options ...Option) (*Receiver, error) {
	rcv := &Receiver{timeout: 30 * time.Second, window: 5 * time.Second, maxParams: 256, maxBytes: 64 << 10}
	rcv.noStore, rcv.otherFields = []string{"no-store"}, new(otherFields)
	var problems []error
	for i, option := range options {
		if option == nil {
			problems = append(problems, fmt.Errorf("webhook: option %d is nil", i+1))
			continue
		}
		problems = append(problems, option(rcv))
	}
	rcv.compile()
	if err := errors.Join(append(problems, rcv.checkSecrets())...); err != nil {
		return nil, err
	}
	return rcv, nil
}

func (rcv *Receiver) compile() {
	t := rcv.contract.Table()
	rcv.callbacks = map[Callback]*callback{}
	for name, section := range t.Webhooks() {
		zone, _ := time.LoadLocation(section.Zone) // no contract has an unknown one
		c := &callback{
			Receiver: rcv, name: Callback(name), concepts: map[string][]concept{}, outer: map[string]*paths{},
			zone: zone, layouts: section.Layouts, reply: section.Reply,
		}
		for _, text := range section.Events {
			c.events = append(c.events, newEventsPath(text))
		}
		if len(c.events) == 0 {
			c.events = []eventsPath{newEventsPath("")}
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

const envSecret = "MESSAGING_WEBHOOK_SECRET"

// NewReceiverFromEnv returns a Receiver configured by environment variables:
//
//   - MESSAGING_CONTRACT: optional, the path of a file with a contract overlay, as for messaging.NewClientFromEnv
//   - MESSAGING_WEBHOOK_SECRET: the parameter of [WithSecret] and its secret, such as key=QZ5JEWNTJ4W5SXPJSAXLQJ6YPM. Several
//     secrets are separated by spaces; the first is the one that DeliveryURL writes. It may be absent only if an option
//     proves the origin: WithSecret, WithPathSecret or WithVerifier
//
// The options are applied on top. Errors name variables and never show their values.
func NewReceiverFromEnv(options ...Option) (*Receiver, error) {
	names, err := contract.FromEnv()
	if err != nil {
		err = fmt.Errorf("webhook: %s: %w", contract.EnvFile, err)
	}
	fromEnv := []Option{WithContract(names)}
	value, given := os.LookupEnv(envSecret)
	parameter, secrets, found := strings.Cut(value, "=")
	switch parameter = strings.TrimSpace(parameter); {
	case !given:
	case parameter == "" || !found || isBlank(strings.Trim(secrets, "=")): // as of a secret in base64 alone
		err = errors.Join(err, errors.New("webhook: "+envSecret+": want PARAMETER=SECRET, such as key=…; got none of the form"))
	default:
		fromEnv = append(fromEnv, WithSecret(parameter, strings.Fields(secrets)...))
	}
	if err != nil {
		return nil, err
	}
	rcv, err := NewReceiver(append(fromEnv, options...)...)
	if err == nil && len(rcv.secrets)+len(rcv.pathSecrets)+len(rcv.verifiers) == 0 {
		return nil, errors.New("webhook: " + envSecret + ": required, unless an option proves the origin; anyone could call")
	}
	return rcv, err
}
