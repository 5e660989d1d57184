// Package messagingotel traces and measures with OpenTelemetry what a client sends and what a webhook receives:
//
//	observer, err := messagingotel.New()
//	// ...
//	client, err := messaging.NewClient(url, messaging.WithToken(token), messaging.WithObserver(observer))
//	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", secret), webhook.WithObserver(observer))
//
// Names follow version 1.43 of the semantic conventions for messaging and for HTTP clients. No span and no metric holds a phone
// number, a text, a reference ID, a credential, a path or a query. The package is a module of its own, so that only programs that use
// it link OpenTelemetry.
//
// # Spans
//
//	span                    kind       what it is                                      within
//	send CHANNEL            client     a send with all its attempts; for SendOnce      the caller's
//	                                   with its lookups
//	list sms                client     one page of a listing                           a lookup, or the caller's
//	lookup sms              internal   a lookup by reference ID                        a send, a settle, or the caller's
//	settle sms              internal   a call of Settle                                the caller's
//	POST, GET               client     one attempt: an HTTP request                    a send or a list
//	wait                    internal   a wait for the rate limit or for a connection   a send or a list
//	backoff                 internal   a wait before another attempt or lookup,        a send, a list or a settle
//	                                   be it for an open circuit breaker
//	fetch token             internal   a call of the function of WithTokenSource       a send or a list
//	process CALLBACK        consumer   an event, or a request that holds none          the request's
//
// CHANNEL is a messaging.Channel, such as sms, and CALLBACK a webhook.Callback, such as delivery.
//
// The status of a span is Error, with the reason, if its step failed: a send with any verdict but accepted, a lookup that found
// nothing, an event whose handler or store failed. An event that was refused has no status: the conventions leave that to the
// sender, as for any response of 400 to 499.
//
// Besides the attributes of the conventions, spans have VerdictKey, AttemptsKey, PartsKey, RequestIDKey, OutcomeKey and
// EventKindKey. The attribute messaging.message.id is the service's ID of a message. The attribute error.type is
//   - for an attempt the HTTP status, if that is 400 or more
//   - for an event the outcome or, if it was refused, the reason, such as "no sender"
//   - otherwise the class of the error, such as "rate limited"; or the verdict of a send, if the error has no class; or "_OTHER"
//
// The attribute url.full, which the conventions ask for, is left out: the query of a listing can hold credentials, and the query of a send
// can hold the message. The attribute server.port is there if the base URL names a port.
//
// # Metrics
//
//	instrument                            unit       counts                          attributes
//	messaging.client.operation.duration   s          sends, lists, lookups, settles  operation, server, verdict, error.type
//	messaging.client.sent.messages        {message}  sends                           operation, server, verdict, error.type
//	messaging.client.sent.parts           {part}     parts that the service charges  operation, server, verdict
//	http.client.request.duration          s          attempts                        method, server, status, error.type
//	messaging.client.breaker.open         {breaker}  1 while a breaker is open       destination name
//	messaging.process.duration            s          events                          operation, kind, outcome, error.type
//
// The gauge messaging.client.breaker.open is there for clients given to [Observer.ObserveBreakers].
//
// Operation stands for messaging.system, messaging.operation.name, messaging.operation.type and messaging.destination.name; server
// for server.address and server.port. Every attribute of a metric has a small, closed set of values.
//
// # Propagation
//
// The headers of a trace are not sent to the service, because it is a third party. [Propagate] sends them, for a gateway of your own
// in between.
//
// # With otelhttp
//
// The spans of attempts make otelhttp unnecessary, and they are safer: otelhttp exports the whole URL, with its query, as url.full.
// It also records http.client.request.duration a second time. To use it all the same, keep the query from it with [HideQuery].
package messagingotel
