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
// A [Receiver] has two methods for each callback. One returns an http.Handler, for http.ServeMux or any other router; the other only
// parses a request. [Callback] lists the callbacks.
//
// The guide is https://github.com/messaging-service/messaging-go/blob/main/docs/webhooks.md.
//
// The names of parameters, the words of statuses and the placeholders are defaults of package contract, which WithContract changes.
// Every event also has all of its parameters, under any name. An ID, a number or a status with a zero byte counts as absent, because a
// database may refuse to store it. A program that only receives does not link the client.
//
// # What to return
//
// Return nil once the event is safe, in a database or a queue, and do slow work afterwards: services wait for 5 to 30 seconds. The
// service gets a 200 response. Return an error only if calling again can help: the response is then 500, or 503 with Retry-After for
// [ErrRetryLater]. Invalid requests get a 4xx response, and your function is not called. The body of a response is empty unless the
// contract has a reply, because some gateways send it back to the sender as a message.
//
// The context of your function does not end when the caller hangs up, so that work in progress can finish. It ends after
// WithHandlerTimeout, and when the base context of the server (http.Server.BaseContext) ends with a cause, see [context.Cause]. A context of
// signal.NotifyContext ends with one at a signal, so do not set BaseContext to it: functions that http.Server.Shutdown waits for would be
// canceled.
//
// # Who called
//
// Anyone who knows the URL can call it, so a Receiver needs a proof: WithPathSecret puts a secret into the path of the URL, WithSecret
// into its query, and WithVerifier calls a function of yours, which can look at a header or a signature. Use https, and keep URLs out of
// access logs: log the pattern of the route, [http.Request.Pattern]. Anyone who has seen a secret in a URL can use it, so change it now
// and then.
//
// Set the timeouts and limits of http.Server, which has none by default.
//
// # Duplicates
//
// Services call again when a response was lost, and some call twice at once. WithStore handles each event once, for as long as the store
// remembers it. A [MemoryStore] forgets its events on restart and beyond its capacity; package webhook/sqlstore keeps them until Prune.
// Without a store, make the function idempotent. If two events may be different, both are handled.
package webhook

// For maintainers. A request becomes events in these files, in this order:
//
//	handler.go, read.go      the response, and the steps from a request to its events
//	request.go, proof.go     the bytes of a request, and who called
//	body.go, paths.go        the objects of a JSON body that are events
//	fields.go, values.go     the parameters of an event, by concept (concept.go)
//	rawjson.go               which parameters a person may have typed
//	object.go, envelope.go   JSON in the shape of the platform
//	resolve.go               which of these sources counts
//	sms.go and others        the event; content.go and fill.go read its content
//	call.go, store.go        its function, called once
