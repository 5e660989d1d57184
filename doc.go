// Package messaging sends SMS and chat-app messages through the messaging service, and says of each message what is known:
// accepted, refused, not sent, or unknown.
//
//	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken(token))
//	if err != nil {
//		return err
//	}
//	receipt, err := client.SMS.Send(ctx, sms.Message{
//		From: "ACME", To: "+639171234567", Text: "Your order is ready", ReferenceID: "order-17",
//	})
//	switch messaging.VerdictOf(err) {
//	case messaging.Accepted: // receipt.ID is the service's name for the message
//	case messaging.Refused: // the service said no: err says why
//	case messaging.NotSent: // nothing left this machine: safe to send again
//	case messaging.Unknown: // it may have arrived: do not send again, settle it by its reference ID
//	}
//
// The other calls are described in the packages of the channels. Package sms: SendOnce looks an unknown outcome up, SendAll sends
// many, List, Pages and Find read back what was sent. Packages chatapp1 and chatapp2: Send and SendAll, with every type of message
// that the two chat apps take. No listing exists for those, so that an unknown outcome stays unknown.
//
// A [Client] is made once and shared: it is safe for concurrent use, never changes, and keeps connections of its own.
//
// # Retries
//
// A send is repeated only where the service provably did not process it: nothing was written to a connection, or the
// service answered HTTP 429 (or another status that the contract lists under errors.notProcessed). Everything else ends
// the call: after a timeout, a reset, a cut answer or an HTTP 500 nobody but the service knows whether the message went
// out, and the verdict is [Unknown]. Evidence is what net/http reports of its writing (net/http/httptrace), never the
// text of an error.
//
//	what happened                                            verdict, and whether it is repeated
//	dialling, DNS or the TLS handshake failed                repeated, then not sent
//	the rate limit or the context ended first                not sent
//	a certificate, a token source or an Auth failed          not sent
//	HTTP 429                                                 repeated, waiting as told; in the end refused
//	HTTP 401 with a token source                             repeated once with a fresh token; then refused
//	other HTTP 4xx, or a 2xx with an error code              refused
//	HTTP 3xx, 408, 5xx                                       unknown
//	written, then a timeout, reset, end or broken answer     unknown
//	2xx without a message ID, or with a status or a code
//	that the contract does not know                          unknown
//
// "Repeated" means up to MaxAttempts and the context's deadline. Waits grow exponentially with full jitter and respect Retry-After ([RetryPolicy]). The context bounds the whole call.
// Redirects are never followed.
//
// # Errors
//
// What was wrong before anything was sent is a [*ValidationError], with all problems at once. Everything after is an [*Error]
// with verdict, HTTP status, the service's code and message, the request ID and the attempts. Both match sentinels with
// errors.Is: [ErrInvalid], [ErrUnauthorized], [ErrRateLimited] and so on; [ErrOutcomeUnknown] and [ErrNotSent] for the
// verdict. The context's own error matches where it is the cause.
//
// # Wire names
//
// The specification of the service gives the paths, the Authorization header and the name ttl, and leaves every other name
// on the wire open. This library uses a default for each, and package contract lets an account change any of them in one
// JSON file ([WithContract]). A default is a default: compare it with your account's documentation.
//
// # Secrets and personal data
//
// Tokens, keys, numbers, texts and query strings do not show in errors, logs or what package fmt prints of a client, an
// option, an error or a message. What the service wrote is kept in Error.Message and Error.Body, for those who ask: it may
// repeat a number or a text.
//
// # Receiving
//
// Package webhook has handlers for inbound messages and delivery reports. It does not import this package: a server that only
// receives does not link the sender.
//
// # Tests without an account
//
// Package messagingtest is a stand-in for the service on a loopback port. The quickstart runs against it:
//
//	go run ./examples/quickstart
package messaging
