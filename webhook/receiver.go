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

	secrets      []secret
	pathSecrets  []secret
	verifiers    []func(*http.Request) error
	withoutProof bool // every call is accepted
	store        Store
	timeout      time.Duration
	post         bool
	maxParams    int
	maxQuery     int // bytes
	maxBody      int // bytes
	hooks        []Hook
	noStore      []string // the value of the header Cache-Control in every response

	handleStatus     func(context.Context, event) error
	handleOther      func(context.Context, event) error
	handlePreference func(context.Context, event) error
}

// NewReceiver returns a Receiver. Without one of [WithSecret], [WithPathSecret], [WithVerifier] and [WithoutProof] it returns an error. By
// default a Receiver reads the default contract, accepts GET only, and handles repeated calls again (see [WithStore]). The error joins one
// error for each invalid option.
func NewReceiver(options ...Option) (*Receiver, error) {
	rcv, err := newReceiver(options)
	if err != nil {
		return nil, err
	}
	if rcv.takesAnyone() {
		return nil, errors.New("webhook: anyone could call: want WithSecret, WithPathSecret or WithVerifier, or WithoutProof to accept every call")
	}
	return rcv, nil
}

const envSecret = "MESSAGING_WEBHOOK_SECRET"

// NewReceiverFromEnv returns a Receiver configured by environment variables:
//
//   - MESSAGING_CONTRACT: optional, the path of a file with a contract overlay, as for messaging.NewClientFromEnv
//   - MESSAGING_WEBHOOK_SECRET: the parameter of [WithSecret] and its secret, such as key=QZ5JEWNTJ4W5SXPJSAXLQJ6YPM. Several
//     secrets of the parameter are separated by spaces, as in "key=NEW OLD"; a secret must not contain a comma. DeliveryURL writes the first. The
//     variable may be absent only if an option proves the origin (WithSecret, WithPathSecret or WithVerifier) or does without a proof
//     (WithoutProof). An empty one is always an error
//
// The options are applied on top. One error reports all problems, of variables and options. It names variables and never shows their values.
func NewReceiverFromEnv(options ...Option) (*Receiver, error) {
	fromEnv := []Option{contractFromEnv()}
	if value, isSet := os.LookupEnv(envSecret); isSet {
		fromEnv = append(fromEnv, secretFromEnv(value))
	}
	rcv, err := newReceiver(append(fromEnv, options...))
	if err != nil {
		return nil, err
	}
	if rcv.takesAnyone() {
		const problem = "required as PARAMETER=SECRET, such as key=…, unless an option proves the origin; anyone could call. WithoutProof accepts every call"
		return nil, errors.New("webhook: " + envSecret + ": " + problem)
	}
	return rcv, nil
}

func contractFromEnv() Option {
	names, err := contract.FromEnv()
	if err != nil {
		return func(*Receiver) error { return fmt.Errorf("webhook: %s: %w", table.EnvFile, err) }
	}
	return WithContract(names)
}

func secretFromEnv(value string) Option {
	parameter, rest, _ := strings.Cut(value, "=")
	parameter = strings.TrimSpace(parameter)
	hasSecret := !isBlank(strings.Trim(rest, "=")) // a secret in base64 alone ends with =
	if parameter == "" || !hasSecret {
		return invalid(envSecret + ": want PARAMETER=SECRET, such as key=…")
	}
	secrets := strings.Fields(rest)
	switch {
	case strings.Contains(rest, ","):
		return invalid(envSecret + ": it has a comma: separate several secrets by spaces, as in key=NEW OLD")
	case slices.ContainsFunc(secrets[1:], namesParameter):
		return invalid(envSecret + ": it has NAME= more than once: give the parameter once, as in key=NEW OLD")
	}
	return withSecret(envSecret, parameter, secrets)
}

// namesParameter reports whether a word is like key=SECRET, and no secret in base64, which has = at its end alone.
func namesParameter(word string) bool {
	return strings.Contains(strings.TrimRight(word, "="), "=")
}

func newReceiver(options []Option) (*Receiver, error) {
	rcv := &Receiver{timeout: 30 * time.Second, maxParams: 256, maxQuery: 64 << 10, maxBody: 3 << 20, noStore: []string{"no-store"}}
	var problems []error
	for i, option := range options {
		if option == nil {
			problems = append(problems, fmt.Errorf("webhook: option %d is nil", i+1))
			continue
		}
		problems = append(problems, option(rcv))
	}
	rcv.compile()
	problems = append(problems, rcv.checkSecrets()...)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return rcv, nil
}

// takesAnyone reports whether neither a proof of origin nor WithoutProof was given.
func (rcv *Receiver) takesAnyone() bool {
	proofs := len(rcv.secrets) + len(rcv.pathSecrets) + len(rcv.verifiers)
	return proofs == 0 && !rcv.withoutProof
}

func (rcv *Receiver) compile() {
	t := table.Of(rcv.contract)
	rcv.callbacks = map[Callback]*callback{}
	for name, section := range t.Webhooks() {
		if Callback(name) == CallbackDelivery {
			section.Params = maps.Clone(section.Params)
			section.Params["json"] = t.WebhookChatApp2.Params["json"] // statuses arrive in the same parameters as messages
		}
		rcv.callbacks[Callback(name)] = rcv.newCallback(Callback(name), section)
	}
	delivery := rcv.callbacks[CallbackDelivery]
	for i, key := range conceptKeys() {
		delivery.placeholders[i] = t.WebhookDelivery.Placeholders[key]
	}
	delivery.placeholders[conceptBareID] = delivery.placeholders[conceptID]
}

// checkSecrets returns an error for each parameter that cannot hold a secret.
func (rcv *Receiver) checkSecrets() (problems []error) {
	for i, s := range rcv.secrets {
		isSame := func(before secret) bool { return before.name == s.name }
		if slices.ContainsFunc(rcv.secrets[:i], isSame) {
			problems = append(problems, errors.New("webhook: "+s.option+": two options name the same parameter: merge them"))
		}
		for _, name := range slices.Sorted(maps.Keys(rcv.callbacks)) {
			if rcv.callbacks[name].needs(s.name) {
				problems = append(problems, fmt.Errorf("webhook: %s: the %s callback needs the parameter itself; choose another name for that of the secret", s.option, name))
			}
		}
	}
	return problems
}

// callback is a callback as the contract describes it.
type callback struct {
	receiver     *Receiver
	name         Callback
	bindings     map[string][]binding // by the names of parameters; most have one
	takesPOST    bool
	placeholders [numConcepts]string // what the service leaves in place of a value that it did not fill in
	paramPaths   *paths              // of parameters in a JSON body
	eventPaths   *paths              // where a JSON body may hold several events
	innerPaths   *paths              // the same, for a body that is not an event by itself
	takesList    bool                // a JSON body may be a list of events
	zone         *time.Location
	layouts      []string    // further forms of times
	reply        table.Reply // to a call that was handled
}

func (rcv *Receiver) newCallback(name Callback, section table.Webhook) *callback {
	zone, _ := time.LoadLocation(section.Zone) // contract.Parse checks it
	c := &callback{receiver: rcv, name: name, zone: zone, layouts: section.Layouts, reply: section.Reply}
	c.takesPOST = rcv.post || section.Encoding != "query"
	c.bind(section.Params)
	c.setEvents(section.Events)
	return c
}

// bind binds names of parameters to concepts. A name with a dot is a path, too.
func (c *callback) bind(params map[string][]string) {
	c.bindings = map[string][]binding{}
	var texts []string
	for i, key := range conceptKeys() {
		for j, name := range params[key] {
			c.bindings[name] = append(c.bindings[name], newBinding(concept(i), name, j+1))
			if strings.Contains(name, ".") && !slices.Contains(texts, name) {
				texts = append(texts, name)
			}
		}
	}
	c.paramPaths = newPaths(texts)
}

// setEvents sets where a JSON body may hold events. Paths after "", which is the body itself, count only if the body is not an event.
func (c *callback) setEvents(list []string) {
	before := list
	var after []string
	body := slices.Index(list, "")
	if body >= 0 {
		before = list[:body]
		after = list[body+1:]
	}
	c.takesList = body >= 0 || len(list) == 0
	c.eventPaths = newPaths(before)
	c.innerPaths = newPaths(after)
}

// reads reports whether the callback reads a parameter, or members of it.
func (c *callback) reads(parameter string) bool {
	for name := range c.bindings {
		if isWithin(name, parameter) {
			return true
		}
	}
	return c.eventPaths.anyWithin(parameter)
}

// needs reports whether the callback reads a parameter, or looks for events in it.
func (c *callback) needs(parameter string) bool {
	return c.reads(parameter) || c.innerPaths.anyWithin(parameter)
}

func (c *callback) isChat() bool { return c.name == CallbackChatApp1 || c.name == CallbackChatApp2 }

// refuse returns the refusal of a request of the callback.
func (c *callback) refuse(reason error) *RejectError { return c.name.refuse(reason) }
