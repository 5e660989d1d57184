// Package webhook receives what the messaging service sends: inbound SMS, inbound messages of both chat apps, and delivery
// reports. Each kind has a handler for http.ServeMux or any other router, and a function that only parses:
//
//	mux := http.NewServeMux()
//	mux.Handle("/hooks/sms", webhook.SMS(func(ctx context.Context, m webhook.SMSMessage) error {
//		return queue.Put(ctx, m)
//	}, webhook.WithSecret("key", secret), webhook.WithStore(webhook.NewMemoryStore(100_000, 24*time.Hour))))
//
//	SMS       ParseSMS       SMSMessage
//	ChatApp1  ParseChatApp1  ChatApp1Message
//	ChatApp2  ParseChatApp2  ChatApp2Message
//	Delivery  ParseDelivery  DeliveryReport; DeliveryURL makes the URL that a send names
//
// The service's specification says that it calls a URL of yours with GET, and shows no name of a parameter, no retry and no
// signature. The names are defaults of package contract, WithContract changes them, and every event has all of its
// parameters and its raw query, whatever they are called. The package imports the standard library and package contract:
// a server that only receives does not link the client.
//
// # Answers
//
// The body is always empty, since some gateways send it back to the sender as a message, and Cache-Control is no-store.
// Requests are checked in this order:
//
//	405  the method is neither GET, HEAD nor, with WithPOST, POST
//	200  HEAD, which has no effect
//	204  a browser that fetches ahead of its user (Sec-Purpose, Purpose, X-Purpose, X-Moz), which has no effect
//	414  the query is longer than 64 KiB (WithLimits); 413 the body of a POST is
//	403  a proof of origin is missing or wrong; 404 with WithPathSecret
//	414  more than 256 parameters (WithLimits)
//	400  no sender, or for a delivery report neither message ID nor reference ID; a body that cannot be read (or 415)
//	503  with Retry-After: the same event is being handled at this moment, or the store failed to say whether
//	200  handled, now or before
//	500  the function returned an error or panicked, so that the service may call again
//
// Every panic is answered so, that of http.ErrAbortHandler too. Return nil once the event is safe, in a database or a queue,
// and do slow work afterwards: services wait for 5 to 30 seconds. Return an error only where calling again can help;
// services differ in whether and how often they do.
//
// # Reading what careless senders send
//
// Queries are read as forms, once, with these differences from net/url, which drops a parameter or the query for some of them: a
// semicolon is data; a % that escapes nothing stays; each byte that is no part of valid UTF-8 is read as Windows-1252;
// white space in front of a number was a + that was not escaped, in From and To, never in a text. Of parameters that come
// several times the first counts that is not blank. Control characters stay in texts, NUL among them: mind what you print.
// What cannot be read, a time or a kind, never loses a message that carries a sender.
//
// # Who called
//
// Anybody can call a URL who knows it. WithSecret puts a secret into its query, WithPathSecret into its path, WithVerifier
// asks a function of yours. Use https, and keep the query out of access logs: it holds numbers and texts as well
// (ScrubURL; in nginx a log_format without $args and $request). A secret in the URL that was seen once can be used by whoever saw
// it: several secrets at once make it easy to change.
//
// Set the timeouts and limits of http.Server (ReadHeaderTimeout, ReadTimeout, MaxHeaderBytes), which has none by default.
// A text of 4096 characters can take 48 KB in a query: proxies in front have limits of their own, 8 KB in nginx
// (large_client_header_buffers). Never fetch a media URL without bounds; anybody may have written it.
//
// # More than once
//
// Services call again when an answer was lost, and some call twice at once. WithStore has each event handled once: see
// [Store], also on what it cannot promise. Without a store make the function idempotent.
//
// # Other routers
//
// A handler is an http.Handler: chi takes it as it is, gin by gin.WrapH, echo by echo.WrapHandler. For WithPathSecret
// under a router that does not set path values, set it before: r.SetPathValue("key", c.Param("key")).
//
// Everything here is safe for concurrent use.
package webhook
