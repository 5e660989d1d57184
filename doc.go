// Package messaging sends SMS and chat-app messages through the messaging service, and says what became of each message: accepted, refused, not
// sent, or unknown.
//
//	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken(token))
//	if err != nil {
//		return err
//	}
//	receipt, err := client.SMS.Send(ctx, sms.Message{
//		From: "ACME", To: "+639171234567", Text: "Your order is ready", ReferenceID: "order-17",
//	})
//	wait, retryable := messaging.Retryable(err)
//	switch {
//	case err == nil: // receipt.ID is the service's ID of the message
//	case messaging.MayHaveBeenSent(err): // do not send it again: settle it by its reference ID
//	case retryable: // it was not sent: send it again, after the wait
//	default: // it was not sent, and err says why
//	}
//
// A [Client] has a service for each channel:
//
//	SMS       Send, SendAll   one message, or many concurrently
//	          SendOnce        one message; an unknown outcome is settled by looking it up
//	          Settle          what became of a message that may have been sent, after a crash
//	          Validate        what Send would reject
//	          Find            one message by its reference ID
//	          List, Pages     what was sent, by row or by page; Page.Next continues a listing in another process
//	ChatApp1  Send, SendAll, Validate
//	ChatApp2  Send, SendAll, Validate
//
// The messages of a channel are in the package of its name, such as chatapp1. The service lists only SMS: an unknown outcome of a chat-app message
// cannot be looked up, and only a delivery report settles it.
//
// [FirstAccepted] sends over one channel and falls back to another. [IsAccountProblem] tells which messages to keep until the account is fixed.
// [WithGuard] denies or postpones messages, such as to people who opted out.
//
// Create one Client and share it: it is safe for concurrent use. [Client.With] derives another that shares its connections.
//
// # Verdicts and retries
//
// A send is retried only if the service provably did not process it: nothing was written to a connection, or the service
// responded with HTTP 429 (or another status that the contract lists under errors.notProcessed). After a timeout, a reset, a
// response that is cut short or an HTTP 500, only the service knows whether the message went out, and the verdict is [Unknown].
// The evidence is what net/http reports through net/http/httptrace, never the text of an error.
//
//	what happened                                            retried, and the verdict in the end
//	dialling, DNS or the TLS handshake failed                retried; not sent
//	the wait before the first request was too long, or the
//	context ended before it                                  not sent
//	the circuit breaker is open, and the call must not wait  not sent
//	a certificate or the authentication failed              not sent
//	HTTP 429 in JSON, without a body, or with Retry-After    retried after the wait it asks for, unless that is too
//	                                                         long; refused
//	HTTP 401 in JSON, without a body, or with
//	WWW-Authenticate, and a token source                     retried once with a fresh token; refused
//	HTTP 407, 411, 413, 414, 417, 421, 431                   refused, also from a proxy
//	other HTTP 4xx with a page: no JSON object or list,
//	and no text that the contract describes                  unknown: the base URL or the path may be wrong
//	HTTP 4xx that names a message, and HTTP 409 with the
//	ID of anything or a code for duplicates                  unknown, and not retried
//	other HTTP 4xx                                           refused
//	2xx with a code of a known class, or with a word that
//	the contract lists under refused                         refused; Error.Ambiguous if it names a message
//	HTTP 3xx, 408, 499, 5xx                                  unknown
//	written, then a timeout, a reset or a broken response    unknown
//	2xx without a message ID, with a status or a code that
//	the contract does not know, or with anything that says
//	failure, at any depth                                    unknown
//	any other failure next to the message ID, a member that
//	comes twice, or the reference ID of another message      unknown
//
// Retries end with MaxAttempts and with the context's deadline ([RetryPolicy]). Redirects are never followed. Reads are retried after any failure
// that may be temporary. While the service or the account is in trouble, a circuit breaker holds messages back ([WithBreaker]).
//
// A send is not idempotent: a second one with the same reference ID sends another message, unless the service refuses it as a duplicate.
// [MayHaveBeenSent] is true for such a refusal.
//
// # Errors
//
// A [*ValidationError] lists everything wrong with a message or an option; nothing was sent. Any other failure is an [*Error] with
// the verdict, the HTTP status, the service's code and message, the request ID and the attempts. Both match sentinels with
// errors.Is: [ErrOutcomeUnknown] and [ErrNotSent] for the verdict, and one for the class of the failure, such as
// [ErrInsufficientBalance]. If the context's error is the cause, it matches too. A failed read has no verdict;
// [Retryable] says whether and when to repeat it.
//
// # Wire names
//
// The specification of the service states the paths, the Authorization header and the name ttl. For every other wire name this
// library has a default. Package contract lets you change each of them in one JSON file ([WithContract]): compare the defaults
// with your account's documentation.
//
// # Secrets and personal data
//
// Tokens, keys, numbers, texts and query strings do not appear in errors and logs, nor in what package fmt prints of a client, an
// option, a token or an error. Messages, receipts and transactions are plain data: package fmt prints them whole, and log/slog leaves
// personal data out.
//
// # Other packages
//
// Package webhook has handlers for inbound messages and delivery reports. Package conversations has a guard for opt-outs and the 24-hour
// window of chat app 2. Package messagingtest is a test server for the service. The module messagingriver sends messages from a queue in
// your database.
package messaging
