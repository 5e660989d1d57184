package webhook

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
)

// Option sets one thing of a handler, a Parse function or DeliveryURL; each says to which of them it matters. An option that
// makes no sense, such as an empty secret, panics where it is made, as http.ServeMux does with a bad pattern. Where two
// options set the same the last wins, except that all proofs of origin have to hold. An Option may be used many times,
// and by many goroutines at once.
type Option func(*settings)

// settings is what the options fill.
type settings struct {
	wire wire

	secrets     []secret
	pathSecrets []secret
	verifiers   []func(*http.Request) error
	onReject    func(*http.Request, error)
	store       Store
	window      time.Duration
	post        bool
	maxParams   int
	maxBytes    int
	logger      *slog.Logger
}

// maxSecrets bounds how many parameters hold a secret: each has a bit in a proof.
const maxSecrets = 32

const (
	defaultParams = 256
	defaultBytes  = 64 << 10
	// defaultWindow is how long a message without ID and time is taken for the same: longer than a service waits before
	// it calls again in haste, shorter than a person takes to mean the same word again.
	defaultWindow = time.Minute
)

func defaults() settings {
	return settings{wire: defaultWire(), window: defaultWindow, maxParams: defaultParams, maxBytes: defaultBytes}
}

func newSettings(options []Option) settings {
	if len(options) == 0 { // what an option gets is allocated
		return defaults()
	}
	s := defaults()
	for _, option := range options {
		if option == nil {
			panic("webhook: an option is nil")
		}
		option(&s)
	}
	if len(s.secrets) > maxSecrets {
		panic("webhook: WithSecret: too many parameters")
	}
	for i := range s.secrets {
		if parameter := s.secrets[i].name; slices.ContainsFunc(s.secrets[:i], func(other secret) bool { return other.name == parameter }) {
			panic("webhook: WithSecret: the parameter is named twice; several secrets of one parameter go into one call")
		}
	}
	return s
}

// check panics where a secret would take away what the message needs.
func (s *settings) check(names names) {
	for i := range s.secrets {
		if names.find(s.secrets[i].name) != 0 {
			panic("webhook: WithSecret: the contract needs the parameter for the message itself")
		}
	}
}

// WithSecret demands that the callback carries one of the secrets in the parameter of that name, in its query or, with
// WithPOST, in its body; the first value that is not blank counts. It matters to handlers, Parse functions and
// DeliveryURL.
//
// Several secrets are for rotation: add the new one in front, change the callback URL at the service, drop the old one.
// The comparison takes the same time whichever secret is right, and whether one is. The parameter is passed on to nobody:
// it is in neither Params nor RawQuery, and is no part of what tells a duplicate. Whoever keeps access logs still sees it:
// see ScrubURL. A secret should have 128 bits or more: crypto/rand.Text makes one.
//
// Given more than once, for different parameters, all have to hold. An empty or blank parameter or secret panics, and so
// does the name of a parameter that the contract needs for the message itself.
func WithSecret(parameter string, secrets ...string) Option {
	one := newSecret("WithSecret", parameter, secrets)
	return func(s *settings) { s.secrets = append(slices.Clip(s.secrets), one) }
}

// WithPathSecret demands that the path value of that name is one of the secrets: the pattern /hooks/{key}/sms of
// http.ServeMux has the path value key, as (*http.Request).PathValue gives it. It matters to handlers, Parse functions and
// DeliveryURL. A router that does not set path values leaves that to a line of yours, (*http.Request).SetPathValue.
//
// Choose secrets of letters and digits, as crypto/rand.Text makes them: a router of others may split a secret at a slash that was
// escaped, or hand it on escaped.
//
// It is compared as by WithSecret. A wrong one is answered with 404, as if there were nothing. Given more than once, all
// have to hold. An empty or blank name or secret panics.
func WithPathSecret(name string, secrets ...string) Option {
	one := newSecret("WithPathSecret", name, secrets)
	return func(s *settings) { s.pathSecrets = append(slices.Clip(s.pathSecrets), one) }
}

// WithVerifier demands that the function returns nil for the request: a signature, an allow-list of addresses, or whatever
// else. It matters to handlers and Parse functions. The function runs after the length was checked, from many goroutines
// at once. It gets the request as it came; the body of a POST can be read, and is there again afterwards. Its error is
// told to nobody but WithOnReject.
//
// Given more than once, all have to hold. A nil function panics.
func WithVerifier(verify func(*http.Request) error) Option {
	if verify == nil {
		panic("webhook: WithVerifier: the function is nil")
	}
	return func(s *settings) { s.verifiers = append(slices.Clip(s.verifiers), verify) }
}

// WithOnReject has the function called for each request that was refused, with a [*RejectError], and for each in which a
// function of yours panicked, with a [*PanicError]: before it is answered, from many goroutines at once. It matters to
// handlers; Parse functions return their error. The error that a handle function returns is not among them.
//
// The request is as it came: its URL holds number, text and secret. See ScrubURL. A nil function panics.
func WithOnReject(rejected func(*http.Request, error)) Option {
	if rejected == nil {
		panic("webhook: WithOnReject: the function is nil")
	}
	return func(s *settings) { s.onReject = rejected }
}

// WithStore has each event handled once, however often it comes, as far as the store remembers: see [Store]. It matters to
// handlers. Without it each call of the service is handled. Handlers may share a store: what they keep in it has
// different keys for SMS, each chat app and delivery reports. Two accounts whose IDs may be equal need a store each.
//
// A nil store panics.
func WithStore(store Store) Option {
	if memory, ok := store.(*MemoryStore); store == nil || ok && memory == nil {
		panic("webhook: WithStore: the store is nil")
	}
	return func(s *settings) { s.store = store }
}

// WithDuplicateWindow sets how long a message that carries neither an ID nor a time that can be read is taken for the same when it comes
// again with the same parameters: 60 s unless set. It counts from the moment the first one came, so that of two honest
// "yes" the second is handled. 0 means that such messages are never taken for the same. It matters to handlers with a
// store. With a store other than [MemoryStore] the window is anything between half of it and the whole: see [Store].
//
// A negative window panics.
func WithDuplicateWindow(window time.Duration) Option {
	if window < 0 {
		panic("webhook: WithDuplicateWindow: the window is negative")
	}
	return func(s *settings) { s.window = window }
}

// WithPOST takes POST as well as GET. It matters to handlers and Parse functions. The specification calls GET the default
// method of callbacks; that a body has the same names is a default of this library.
//
// The body is a form (application/x-www-form-urlencoded) or a JSON object, told apart by what is in it, since senders are
// careless with Content-Type. Members of the object are parameters: strings, numbers, true and false as they are written,
// null as an empty value. An object or list within it is a parameter whose value is its JSON; of the fields of a message it
// can be none but, for chat apps, the Meta-shaped message. The whole body may be that message, or the envelope of one.
// Parameters of the query come before those of the body.
func WithPOST() Option { return func(s *settings) { s.post = true } }

// WithContract sets the names of parameters, the words of statuses, the placeholders and the time zones. It matters to
// handlers, Parse functions and DeliveryURL; without it the default contract holds. The contract is read here, once: make
// the option once, not for each call of a Parse function.
//
// A contract that [contract.Contract.Validate] refuses panics.
func WithContract(c contract.Contract) Option {
	if err := c.Validate(); err != nil {
		panic("webhook: WithContract: " + err.Error())
	}
	compiled := compile(c)
	return func(s *settings) { s.wire = compiled }
}

// WithLogger logs one record for each request: the kind of the event, its ID, the verdict and how long it took. Never a
// number, a text, a query or a secret, nor what the error or panic of a function of yours said. It matters to handlers,
// which log nothing otherwise.
//
// What was handled, and what was handled before, is logged at Info; what was refused at Warn; what failed, in your
// function or in the store, at Error. A nil logger panics.
func WithLogger(logger *slog.Logger) Option {
	if logger == nil {
		panic("webhook: WithLogger: the logger is nil")
	}
	return func(s *settings) { s.logger = logger }
}

// WithLimits bounds how many parameters a request may have, and how many bytes its query and, with WithPOST, its body may
// have each: 256 and 65536 unless set. It matters to handlers and Parse functions. The memory for one request is at most a
// small multiple of the bytes. The server has limits of its own, http.Server.MaxHeaderBytes, and so do proxies in front of it.
//
// A limit that is not positive panics.
func WithLimits(parameters, bytes int) Option {
	if parameters <= 0 || bytes <= 0 {
		panic("webhook: WithLimits: a limit is not positive")
	}
	return func(s *settings) { s.maxParams, s.maxBytes = parameters, bytes }
}

// secret is a parameter or a path value that has to be one of several words.
type secret struct {
	name  string
	words []secretWord
	size  int // of the words as they are compared
	first func() string
}

// secretWord is a word of a secret, filled up with zero bytes to the length of all.
type secretWord struct {
	filled []byte
	length int
}

// secretUnit is what the length of filled words is a multiple of.
const secretUnit = 32

func newSecret(option, name string, secrets []string) secret {
	if strings.TrimSpace(name) == "" {
		panic("webhook: " + option + ": the name is empty")
	}
	if len(secrets) == 0 {
		panic("webhook: " + option + ": there is no secret")
	}
	longest := 0
	for _, word := range secrets {
		if strings.TrimSpace(word) == "" {
			panic("webhook: " + option + ": a secret is empty")
		}
		longest = max(longest, len(word))
	}
	result := secret{name: name, size: (longest + secretUnit - 1) / secretUnit * secretUnit}
	for _, word := range secrets {
		filled := make([]byte, result.size)
		copy(filled, word)
		result.words = append(result.words, secretWord{filled: filled, length: len(word)})
	}
	first := secrets[0]
	result.first = func() string { return first }
	return result
}
