package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/contract"
)

// An Option configures a [Receiver]. [NewReceiver] reports an option that makes no sense, such as an empty secret. Where two
// options set the same thing the last one wins, except that all proofs of origin must hold.
type Option func(*Receiver) error

// WithContract sets the names of parameters, the words of statuses, the placeholders and the time zones.
func WithContract(c contract.Contract) Option {
	return option(true, "", func(rcv *Receiver) { rcv.contract = c })
}

// WithSecret requires one of the secrets in the parameter of that name, in the query or, with WithPOST, in the body. Of several
// values, the first that is not blank counts. DeliveryURL adds the parameter to the URL.
//
// Several secrets allow rotation: put the new one first, change the callback URL at the service, then drop the old one. A
// secret should have 128 bits or more; crypto/rand.Text makes one. The comparison takes constant time.
//
// The event does not hold the secret: Params, RawQuery, JSON and the duplicate key are without the parameter and without copies of its
// value. A copy of a secret of 16 characters or more is removed from other values and names too, and a shorter one where it is a whole
// value. Access logs still show it. The contract must not use the parameter for the event itself.
func WithSecret(parameter string, secrets ...string) Option {
	s, problem := newSecret(parameter, secrets)
	return option(problem == "", "WithSecret: "+problem, func(rcv *Receiver) { rcv.secrets = append(rcv.secrets, s) })
}

// WithPathSecret requires one of the secrets as the path value of that name: the pattern /hooks/{key}/sms of http.ServeMux
// has the path value key, see [http.Request.PathValue]. A wrong secret always gets a 404 response, before anything else is
// checked. DeliveryURL replaces {name} in the path.
//
// Choose secrets of letters and digits, since routers differ in how they treat an escaped slash.
func WithPathSecret(name string, secrets ...string) Option {
	s, problem := newSecret(name, secrets)
	return option(problem == "", "WithPathSecret: "+problem, func(rcv *Receiver) { rcv.pathSecrets = append(rcv.pathSecrets, s) })
}

// WithVerifier requires that verify returns nil for a request: a signature is right, an address is on a list. It is called
// from many goroutines, after the length of the request was checked. It may read the body of a POST, which can be
// read again afterwards. Only the function of WithOnReject sees its error.
func WithVerifier(verify func(*http.Request) error) Option {
	return option(verify != nil, "WithVerifier: the argument is nil", func(rcv *Receiver) { rcv.verifiers = append(rcv.verifiers, verify) })
}

// WithStore handles each event once, however often it arrives, for as long as the store remembers it. Handlers may share a
// store, because keys differ between callbacks. Two accounts whose message IDs may be equal need a store each.
func WithStore(store Store) Option {
	memory, ok := store.(*MemoryStore)
	if ok && memory != nil && (memory.capacity <= 0 || memory.remember <= 0 || memory.Lease <= 0) {
		return option(false, "WithStore: the capacity, time to remember and lease of a MemoryStore must be positive", nil)
	}
	isNil := store == nil || ok && memory == nil
	return option(!isNil, "WithStore: the argument is nil", func(rcv *Receiver) { rcv.store = store })
}

// WithDuplicateWindow sets how long a message with neither an ID nor a time in seconds counts as the same when it arrives
// again with the same parameters. The default is five seconds, which covers a service that calls twice at once or again at
// once, and hardly a person who sends "yes" twice; 0 handles every such message. The window is a span of the clock: two equal
// messages a second apart are both handled if a new span begins between them.
func WithDuplicateWindow(window time.Duration) Option {
	return option(window >= 0, "WithDuplicateWindow: the window is negative", func(rcv *Receiver) { rcv.window = window })
}

// WithHandlerTimeout sets how long a function may handle one event before its context ends. The default is 30 seconds. Keep it
// below the lease of the store (see [MemoryStore]).
func WithHandlerTimeout(timeout time.Duration) Option {
	return option(timeout > 0, "WithHandlerTimeout: the timeout must be positive", func(rcv *Receiver) { rcv.timeout = timeout })
}

// WithStatuses makes the chat-app handlers call handle for each delivery status in the platform's envelope, with or without messages.
// Without it they respond with 200, log each status as refused, and pass an [ErrMisdirected] to the function of WithOnReject.
func WithStatuses(handle func(context.Context, DeliveryReport) error) Option {
	return option(handle != nil, "WithStatuses: the argument is nil", func(rcv *Receiver) { rcv.handleStatus = handle })
}

// WithFields reads the messages of an envelope of the platform whose field is one of these, such as standby, history or
// smb_message_echoes, and not only of the field messages. [ChatMessage.Field] says which. Without it they are an [ErrOtherField]: they are
// not live, and the handler does not see them.
func WithFields(fields ...string) Option {
	isWrong := func(field string) bool { return isBlank(field) || field == liveField }
	makesSense := len(fields) > 0 && !slices.ContainsFunc(fields, isWrong)
	fields = slices.Clone(fields)
	return option(makesSense, "WithFields: want the names of fields other than messages", func(rcv *Receiver) { rcv.fields = fields })
}

// WithPOST accepts POST as well as GET. The body is a form or a JSON object, regardless of its Content-Type. Members of the
// object are parameters, with null as an empty value; a nested object or list is a parameter that holds its JSON. For chat apps
// and delivery reports the body may be a message or status of the platform, or its envelope. Parameters of the query come
// before those of the body. For paths and lists of events see docs/webhooks.md.
func WithPOST() Option {
	return option(true, "", func(rcv *Receiver) { rcv.post = true })
}

// WithLimits bounds the number of parameters of a request, and of each event of a list, and the bytes of its query and of its
// body. The defaults are 256 and 65,536. The memory that a request takes is a small multiple of the bytes.
func WithLimits(parameters, bytes int) Option {
	return option(parameters > 0 && bytes > 0, "WithLimits: both limits must be positive", func(rcv *Receiver) {
		rcv.maxParams, rcv.maxBytes = parameters, bytes
	})
}

// WithLogger logs one record for each event, and one for each request that was refused: the callback, the ID, the verdict and
// the duration. An ID that may hold a number or a sentence is left out. Numbers, texts, queries, secrets and the errors of functions
// are not logged. Duplicates are logged at Debug, what was handled or put off at Info, what was refused at Warn, what failed at
// Error. Messages in another field than messages are logged at Warn once for each field, then at Debug. Without it nothing is logged.
func WithLogger(logger *slog.Logger) Option {
	return option(logger != nil, "WithLogger: the argument is nil", func(rcv *Receiver) { rcv.logger = logger })
}

// WithObserver reports the beginning and the end of each event to observer, for traces and metrics. Several observers are called
// in the order of the options, and at the end in the opposite order. Without it nothing is observed, at no cost.
func WithObserver(observer Observer) Option {
	return option(observer != nil, "WithObserver: the argument is nil", func(rcv *Receiver) {
		rcv.observers = append(rcv.observers, func() Observer { return observer }) // a function, so that package fmt prints none
	})
}

// WithOnReject calls rejected with a [*RejectError] for each request that was refused, and with a [*PanicError] where one of
// your functions panicked. It is called from many goroutines, before the response. It does not get the errors that
// functions return. The URL of the request holds numbers, texts and secrets.
func WithOnReject(rejected func(*http.Request, error)) Option {
	return option(rejected != nil, "WithOnReject: the argument is nil", func(rcv *Receiver) { rcv.onReject = rejected })
}

// option returns an option that sets something, and is an error if it makes no sense.
func option(makesSense bool, problem string, set func(*Receiver)) Option {
	return func(rcv *Receiver) error {
		if !makesSense {
			return errors.New("webhook: " + problem)
		}
		set(rcv)
		return nil
	}
}
