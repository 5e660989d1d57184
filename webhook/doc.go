// Package webhook receives what the messaging service sends: inbound SMS, inbound messages of the chat apps, and delivery
// reports.
//
//	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", secret), webhook.WithStore(webhook.NewMemoryStore(100_000, 24*time.Hour)))
//	if err != nil {
//		return err
//	}
//	mux.Handle("/hooks/sms", hooks.SMS(func(ctx context.Context, m webhook.SMSMessage) error {
//		return queue.Put(ctx, m)
//	}))
//
// Each callback has a handler, for http.ServeMux or any other router, and a method that only parses:
//
//	SMS       ParseSMS       SMSMessage; ParseSMSMessages where one call may bring several
//	ChatApp1  ParseChatApp1  ChatMessage
//	ChatApp2  ParseChatApp2  ChatMessage
//	Delivery  ParseDelivery  DeliveryReport; DeliveryURL returns the URL to name in a send
//
// The names of parameters, the words of statuses and the placeholders are defaults of package contract, since the service's
// specification states none; WithContract changes them. Every event also has all of its parameters, under any name, and its raw
// query. The package imports only the standard library and package contract, so a server that only receives does not link the
// client.
//
// [NewReceiverFromEnv] reads the contract and the secret from environment variables.
//
// Events encode as JSON and decode without loss. The guide, docs/webhooks.md, covers what a careless sender makes of an event, JSON
// bodies, lists of events, stores of your own and other routers.
//
// # Responses
//
// Requests are checked in this order:
//
//	404  a secret of WithPathSecret is wrong
//	405  the method is neither GET, HEAD nor, with WithPOST, POST
//	200  HEAD, which has no effect
//	414  the query is longer than WithLimits allows; 413 the body of a POST
//	403  another proof of origin is wrong; 404 with WithPathSecret
//	503  a browser or link preview fetches ahead of its user (Sec-Purpose, Purpose, X-Purpose, X-Moz)
//	414  there are more parameters than WithLimits allows
//	400  no sender, or for a report neither message ID nor reference ID; a body that cannot be read (or 415)
//	503  with Retry-After: the same event is being handled at this moment, the store failed, or the function returned
//	     [ErrRetryLater]
//	500  the function returned another error or panicked
//	200  handled, now or before
//
// The body is always empty, since some gateways send it back to the sender as a message. Every panic is answered with 500,
// even one of http.ErrAbortHandler. Return nil once the event is safe, in a database or a queue, and do slow work afterwards:
// services wait for 5 to 30 seconds. Return an error only if calling again can help.
//
// Where a request holds several events, the response has the highest status of all.
//
// The context of a function keeps the values of the request's context. It ends after WithHandlerTimeout, and when the base
// context of the server (http.Server.BaseContext) ends with a cause, as one of signal.NotifyContext or context.WithCancelCause
// does. It does not end when the caller hangs up, so that work under way can finish.
//
// # Who called
//
// Anyone who knows the URL can call it. WithSecret puts a secret into its query, WithPathSecret into its path, and WithVerifier
// calls a function of yours. Use https, and keep queries out of access logs (see [ScrubURL]). Anyone who has seen a secret in a
// URL can use it, so change it now and then.
//
// Set the timeouts and limits of http.Server, which has none by default.
//
// # Duplicates
//
// Services call again when a response was lost, and some call twice at once. WithStore handles each event once (see [Store]).
// Without a store, make the function idempotent.
//
// Two events are the same if everything that the contract knows of them is the same: ID, sender, recipient, text and other
// content, status, time. Parameters that the contract does not know make no difference, since a retry may count its attempts or
// sign anew. They do make a difference if an event does not identify itself: it has no ID, it is Ambiguous or of an unknown
// kind, or it is a report without a status or a recipient. So, when in doubt, an event is handled twice. An ID without a digit
// that has fewer than 12 characters identifies nothing either, since a word such as "sms" may stand in every event.
package webhook
