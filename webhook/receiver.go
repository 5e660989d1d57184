package webhook

import (
	"context"
	"errors"
	"fmt"
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

	secrets     []secret
	pathSecrets []secret
	verifiers   []func(*http.Request) error
	unproven    bool // every call is taken
	store       Store
	timeout     time.Duration
	post        bool
	maxParams   int
	maxBytes    int
	hooks       []Hook
	noStore     []string // the value of a header, the same in every response

	handleStatus     func(context.Context, event) error
	handleOther      func(context.Context, event) error
	handlePreference func(context.Context, event) error
}

// callback is a callback as the contract describes it.
type callback struct {
	*Receiver

	name         Callback
	concepts     map[string][]use    // by the names of parameters, what they stand for
	placeholders [numConcepts]string // what stands for a value that the service did not fill in
	paths        *paths              // of parameters in a JSON body; nil for none
	positions    []position          // on those of paths that identify a report
	events       *paths              // where a JSON body may hold several events; nil for nowhere
	inner        *paths              // the same, for a body that is not an event by itself
	takesList    bool                // a JSON body may be a list of events
	zone         *time.Location
	layouts      []string    // further forms of times
	reply        table.Reply // to a call that was handled
}

func (c *callback) isChat() bool { return c.name != CallbackSMS && c.name != CallbackDelivery }

// add adds the names of a concept, in their order of preference. A name id that is not the first is that of the event or of the message.
func (c *callback) add(of concept, names []string) {
	for i, name := range names {
		u := use{concept: of, rank: i + 1}
		isBare := name == "id" || name == "_id"
		if of == conceptID && isBare && i > 0 {
			u.concept = conceptBareID
		}
		isPath := strings.Contains(name, ".")
		if isPath && c.concepts[name] == nil {
			if c.paths == nil {
				c.paths = new(paths)
			}
			c.paths.add(name)
		}
		if isPath && c.name == CallbackDelivery && of.identifies() {
			c.positions = append(c.positions, newPositions(name)...)
		}
		c.concepts[name] = append(c.concepts[name], u)
	}
}

// setEvents sets where a JSON body may hold events. Paths after "", which is the body itself, count only if the body is no event.
func (c *callback) setEvents(list []string) {
	if len(list) == 0 {
		list = []string{""}
	}
	for _, path := range list {
		to := &c.events
		if c.takesList {
			to = &c.inner
		}
		switch {
		case path == "":
			c.takesList = true
		case *to == nil:
			*to = newPaths(path)
		default:
			(*to).add(path)
		}
	}
}

// needs reports whether the callback reads a parameter, or members of it.
func (c *callback) needs(parameter string) bool {
	isWithin := func(path string) bool { return path == parameter || strings.HasPrefix(path, parameter+".") }
	for name := range c.concepts {
		if isWithin(name) {
			return true
		}
	}
	return c.events != nil && slices.ContainsFunc(c.events.texts, isWithin)
}

// NewReceiver returns a Receiver. It needs a proof of who calls: [WithSecret], [WithPathSecret] or [WithVerifier], or [WithoutProof] to
// do without. Otherwise it reads the default contract, takes GET only, and handles every call. The error joins one error for each option
// that makes no sense.
func NewReceiver(options ...Option) (*Receiver, error) {
	rcv, err := newReceiver(options)
	if err == nil && !rcv.hasProof() && !rcv.unproven {
		return nil, errors.New("webhook: anyone could call: want WithSecret, WithPathSecret or WithVerifier, or WithoutProof to take every call")
	}
	return rcv, err
}

func newReceiver(options []Option) (*Receiver, error) {
	rcv := &Receiver{timeout: 30 * time.Second, maxParams: 256, maxBytes: 64 << 10, noStore: []string{"no-store"}}
	var problems []error
	for i, option := range options {
		if option == nil {
			problems = append(problems, fmt.Errorf("webhook: option %d is nil", i+1))
			continue
		}
		problems = append(problems, option(rcv))
	}
	rcv.compile()
	problems = append(problems, rcv.checkSecrets())
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return rcv, nil
}

func (rcv *Receiver) compile() {
	t := table.Of(rcv.contract)
	rcv.callbacks = map[Callback]*callback{}
	for name, section := range t.Webhooks() {
		zone, _ := time.LoadLocation(section.Zone) // no contract has an unknown one
		c := &callback{
			Receiver: rcv, name: Callback(name), concepts: map[string][]use{},
			zone: zone, layouts: section.Layouts, reply: section.Reply,
		}
		c.setEvents(section.Events)
		for i, key := range conceptKeys() {
			names := section.Params[key]
			if c.name == CallbackDelivery && concept(i) == conceptJSON { // statuses arrive in the same parameters as messages
				names = t.WebhookChatApp2.Params[key]
			}
			c.add(concept(i), names)
			if c.name == CallbackDelivery {
				c.placeholders[i] = t.WebhookDelivery.Placeholders[key]
			}
		}
		c.placeholders[conceptBareID] = c.placeholders[conceptID]
		rcv.callbacks[c.name] = c
	}
}

// checkSecrets reports parameters that cannot hold a secret.
func (rcv *Receiver) checkSecrets() error {
	var problems []error
	for i, s := range rcv.secrets {
		if slices.ContainsFunc(rcv.secrets[:i], func(before secret) bool { return before.name == s.name }) {
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
//     proves the origin (WithSecret, WithPathSecret or WithVerifier) or does without a proof (WithoutProof)
//
// The options are applied on top. Errors name variables and never show their values.
func NewReceiverFromEnv(options ...Option) (*Receiver, error) {
	names, err := contract.FromEnv()
	if err != nil {
		err = fmt.Errorf("webhook: %s: %w", table.EnvFile, err)
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
	rcv, err := newReceiver(append(fromEnv, options...))
	if err == nil && !rcv.hasProof() && !rcv.unproven {
		return nil, errors.New("webhook: " + envSecret + ": required, unless an option proves the origin; anyone could call. WithoutProof takes every call")
	}
	return rcv, err
}
