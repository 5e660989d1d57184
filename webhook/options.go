package webhook

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/messaging-service/messaging-go/contract"
)

// An Option configures a [Receiver]. [NewReceiver] reports invalid options, such as an empty secret. If two options set the same thing the
// last one wins, with two exceptions: all proofs of origin must hold, and every hook is called.
type Option func(*Receiver) error

// invalid returns an option that is an error.
func invalid(problem string) Option {
	return func(*Receiver) error { return errors.New("webhook: " + problem) }
}

// set returns an option that changes the Receiver.
func set(change func(*Receiver)) Option {
	return func(rcv *Receiver) error {
		change(rcv)
		return nil
	}
}

// WithContract sets the names of parameters, the words of statuses, the placeholders and the time zones. The default is the default
// contract of package contract.
func WithContract(c contract.Contract) Option {
	return set(func(rcv *Receiver) { rcv.contract = c })
}

// WithSecret requires one of the secrets in the parameter of that name, in the query, or in the body of a POST. If the parameter has
// several values, the first that is not blank counts. DeliveryURL adds the parameter to the URL. A secret has at least 16 characters, and
// crypto/rand.Text makes one. The comparison takes constant time.
//
// Several secrets allow rotation, also while old processes still run:
//
//  1. Deploy WithSecret("key", old, new). Callback URLs still have the old secret, which every process accepts.
//  2. Deploy WithSecret("key", new, old), and change the URLs in your account.
//  3. Drop the old one once no message with it in its callback URL waits or can still be reported.
//
// Several WithSecret options must name different parameters, and a call needs a secret of each.
//
// The parameter is not part of the event: Params, RawQuery, JSON and the duplicate key are without it. If the service copies the URL into
// another parameter, that copy remains. Access logs show the secret too, so prefer [WithPathSecret], or a header that [WithVerifier]
// checks, where the service allows it. The contract must not use the parameter for the event itself.
func WithSecret(parameter string, secrets ...string) Option {
	return withSecret("WithSecret", parameter, secrets)
}

// withSecret is WithSecret. from is the option or environment variable that errors name.
func withSecret(from, parameter string, secrets []string) Option {
	s, problem := newSecret(from, parameter, secrets)
	if problem != nil {
		return invalid(problem.Error())
	}
	return set(func(rcv *Receiver) { rcv.secrets = append(rcv.secrets, s) })
}

// WithPathSecret requires one of the secrets as the path value of that name: the pattern /hooks/{key}/sms of http.ServeMux
// has the path value key, see [http.Request.PathValue]. A wrong secret always gets a 404 response, before anything else is
// checked. DeliveryURL replaces {name} in the path. A secret has at least 16 characters.
//
// Choose secrets of letters and digits, since routers differ in how they treat an escaped slash.
func WithPathSecret(name string, secrets ...string) Option {
	s, problem := newSecret("WithPathSecret", name, secrets)
	if problem != nil {
		return invalid(problem.Error())
	}
	return set(func(rcv *Receiver) { rcv.pathSecrets = append(rcv.pathSecrets, s) })
}

// WithVerifier requires that verify returns nil for a request. Use it to check a signature or a list of addresses. It is called from
// many goroutines, after the length of the request was checked. It may read the body, which is restored afterwards. Its error does not show
// in the response: a [Hook] gets it, and so does the caller of a method that only parses, see [RejectError].
//
// A signature of a body does not cover the query: anyone who has seen a signed request can send it again with a query of their own. So
// with a verifier a POST is read from its body alone, even if the body is empty. Its query is no data, and RawQuery is empty; only the
// secret of [WithSecret] may be there. If the body holds no event and the query may, the request is refused as [ErrUnreadable]. So are
// reports that are posted to a [Receiver.DeliveryURL], which has the IDs and the status in its query: let the service call it with GET, or
// use WithSecret or [WithPathSecret] without a verifier.
//
// A GET is read from its query, and refused if it has a body, so for a GET verify must cover the URL. If it checks a body, let it refuse
// every method but POST.
func WithVerifier(verify func(*http.Request) error) Option {
	if verify == nil {
		return invalid("WithVerifier: the argument is nil")
	}
	return set(func(rcv *Receiver) { rcv.verifiers = append(rcv.verifiers, verify) })
}

// WithoutProof accepts every call without a proof of its origin: anyone who finds the URL can pretend that a
// customer wrote, that a message was delivered, or that a person stopped marketing. Use it in tests, or behind a proxy that has proven the
// origin.
func WithoutProof() Option {
	return set(func(rcv *Receiver) { rcv.withoutProof = true })
}

// WithStore handles each event once, however often it arrives, for as long as the store remembers it. An event with the same ID, but another time
// or text, is another event. An equal event with neither an ID nor a time, or an equal [Other] or [Preference] without a time, counts as a
// repetition for 2.5 to 5 seconds only: after that it may be another. Handlers may share a store, because keys differ between callbacks. Two
// accounts whose message IDs may be equal need a store each.
func WithStore(store Store) Option {
	memory, isMemory := store.(*MemoryStore)
	switch {
	case store == nil, isMemory && memory == nil:
		return invalid("WithStore: the argument is nil")
	case isMemory && !memory.isValid():
		return invalid("WithStore: the capacity, time to remember and lease of a MemoryStore must be positive")
	default:
		return set(func(rcv *Receiver) { rcv.store = store })
	}
}

// WithHandlerTimeout sets how long a function may handle one event before its context ends. The default is 30 seconds. Keep it
// below the lease of the store (see [MemoryStore]). A function that ignores its context is not stopped: the response waits for it, and
// after the lease another call may handle the event at the same time.
func WithHandlerTimeout(timeout time.Duration) Option {
	if timeout <= 0 {
		return invalid("WithHandlerTimeout: the timeout must be positive")
	}
	return set(func(rcv *Receiver) { rcv.timeout = timeout })
}

// WithStatuses makes the chat-app handlers call handle for each delivery status in the platform's envelope, with or without messages.
// Without it they respond with 200 and tell the hooks of an [ErrUnhandled] for each status.
func WithStatuses(handle func(context.Context, DeliveryReport) error) Option {
	if handle == nil {
		return invalid("WithStatuses: the argument is nil")
	}
	return set(func(rcv *Receiver) { rcv.handleStatus = wrapFunction(handle) })
}

// WithOther makes the handlers call handle for each change in the platform's envelope that is neither a live message nor a status, such
// as standby, history, calls, account_update and errors of the platform. Without it they respond with 200 and tell the hooks of an
// [ErrUnhandled]. If handle returns an error, the response is 503, so that the platform calls again.
func WithOther(handle func(context.Context, Other) error) Option {
	if handle == nil {
		return invalid("WithOther: the argument is nil")
	}
	return set(func(rcv *Receiver) { rcv.handleOther = wrapFunction(handle) })
}

// WithPreferences makes the handlers call handle when a person stops or resumes marketing messages in the app of the platform. Do not
// ignore a stop: messages to such a person cost your number its reputation. Without this option the change goes to the function of
// WithOther. Without either, the handlers respond with 200 and tell the hooks of an [ErrUnhandled]. If handle returns an error, the
// response is 503, so that the platform calls again.
func WithPreferences(handle func(context.Context, Preference) error) Option {
	if handle == nil {
		return invalid("WithPreferences: the argument is nil")
	}
	return set(func(rcv *Receiver) { rcv.handlePreference = wrapFunction(handle) })
}

// WithPOST accepts POST as well as GET for all callbacks. A callback whose encoding in the contract is form or json needs no option.
//
// The body is a form or a JSON object, regardless of its Content-Type. Members of the object are parameters, with null as an empty
// value; a nested object or list is a parameter that holds its JSON. For chat apps and delivery reports the body may be a message or
// status of the platform, or its envelope. Parameters of the query come before those of the body; with [WithVerifier] they are not
// read. The contract names paths and lists of events; see package contract.
func WithPOST() Option {
	return set(func(rcv *Receiver) { rcv.post = true })
}

// WithLimits sets how many parameters a request, and each event of a list, may have, and how many bytes the query and the body may have, each by
// itself. The defaults are 256 parameters, 64 KiB of query, and 3 MiB of body, because the platform of chat app 2 sends many events in one
// call. The memory that a request takes is a small multiple of the bytes.
func WithLimits(parameters, bytes int) Option {
	if parameters <= 0 || bytes <= 0 {
		return invalid("WithLimits: both limits must be positive")
	}
	return set(func(rcv *Receiver) {
		rcv.maxParams = parameters
		rcv.maxQuery = bytes
		rcv.maxBody = bytes
	})
}

// WithHook tells hook what the Receiver does with each event. Several hooks are called in the order of the options, and at the end in
// the opposite order. [LogHook] makes one that writes a log, module messagingotel one for traces and metrics.
func WithHook(hook Hook) Option {
	if hook.Begin == nil && hook.End == nil {
		return invalid("WithHook: the hook has neither Begin nor End: LogHook(nil) makes such a hook")
	}
	return set(func(rcv *Receiver) { rcv.hooks = append(rcv.hooks, hook) })
}
