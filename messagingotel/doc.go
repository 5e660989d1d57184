// Package messagingotel makes OpenTelemetry traces and metrics of the requests of a client and of the events of a webhook:
//
//	observer, err := messagingotel.New()
//	// ...
//	client, err := messaging.NewClient(url, messaging.WithToken(token), messaging.WithObserver(observer))
//	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", secret), webhook.WithHook(observer.Hook()))
//
// Names follow version 1.43 of the semantic conventions for messaging and for HTTP clients. No span and no metric holds a phone
// number, a text, a credential, a path or a query. Neither holds a reference ID, except a span under a contract that makes it the ID of the
// message. The package is a module of its own, so that only programs that use it link OpenTelemetry.
//
// # Spans
//
//	span                    kind       meaning                                         parent
//	send CHANNEL            client     a send with all its attempts; for SendOnce      the caller's
//	                                   with its lookups
//	list sms                client     one page of a listing                           a lookup, or the caller's
//	lookup sms              internal   a lookup by reference ID                        a send, a settle, or the caller's
//	settle sms              internal   a call of Settle                                the caller's
//	POST, GET               client     one attempt: an HTTP request                    a send or a list
//	wait                    internal   a wait for the rate limit or for a connection   a send or a list
//	backoff                 internal   a wait before another attempt or lookup, or     a send, a list or a settle
//	                                   for an open circuit breaker
//	fetch token             internal   a call of the function of WithTokenSource       a send or a list
//	process CALLBACK        consumer   an event, or a request without an event         the request's
//
// CHANNEL is a messaging.Channel, such as sms, and CALLBACK a webhook.Callback, such as delivery.
//
// The status of a span is Error, with the reason, if its step failed: a send that was not accepted, a lookup that found nothing, an event
// whose handler or store failed. A refused event has no status: by the conventions the status of a response from 400 to 499 is the
// sender's.
//
// Spans also have attributes that the conventions do not define: VerdictKey, OutcomeKey, EventKindKey, messaging.attempts (the requests
// of a send or a list), messaging.message.parts (the parts that the service charges) and messaging.request.id (the service's ID of a
// request). The attribute messaging.message.id is the service's ID of a message. The attribute error.type is
//   - for an attempt the HTTP status, if that is 400 or more
//   - for an event the outcome or, if it was refused, the reason, such as "no sender"
//   - otherwise the class of the error, such as "rate limited"; or the verdict of a send, if the error has no class; or "_OTHER"
//
// The conventions ask for the attribute url.full. It is left out, because the query of a listing can contain credentials, and the query of
// a send the message. The attribute server.port exists if the base URL names a port.
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
// The gauge messaging.client.breaker.open exists for clients that were passed to [Observer.ObserveBreakers].
//
// Here "operation" means messaging.system, messaging.operation.name, messaging.operation.type and messaging.destination.name; "server"
// means server.address and server.port. Every attribute of a metric has a small, closed set of values.
//
// # Propagation
//
// The headers of a trace are not sent to the service, because it is a third party. [Propagate] sends them to a gateway of your own.
//
// # With otelhttp
//
// The spans of attempts make otelhttp unnecessary, and they are safer: otelhttp exports the whole URL, with its query, as url.full, and
// records http.client.request.duration a second time. If you use it anyway, hide the query with [HideQuery].
package messagingotel
