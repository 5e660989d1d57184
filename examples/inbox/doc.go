// Command inbox receives the webhooks of the messaging service on several machines. A receiver stores each event in a NATS JetStream
// stream before it responds, and a consumer handles each event of the stream once.
//
//	go -C examples/inbox run .                                 everything in one process, with an embedded engine
//	go -C examples/inbox run . receive -nats nats://engine:4222 -address :8080
//	go -C examples/inbox run . handle -nats nats://engine:4222
//	go -C examples/inbox test ./...                            receivers and consumers killed; each event is handled once
//
// Use it if receivers run on machines that share no database, or if events come faster than they are handled. With one database,
// mount a handler with a Store in it instead: that is less to run.
//
// What holds: an event that got a 200 response is in the stream. One with a lasting key (it has an ID or, if it is an inbound message,
// a time) is stored once for as long as the stream keeps it, even if it arrives often, at several receivers, or a process is killed
// in between. An event without one is stored for each call that a receiver does not recognize from its own memory.
// While the engine is away, or has no room, events get a 500, so that the service calls again, and
// /healthz responds with 503.
//
// A consumer gets each event at least once. A process that dies between handling and acknowledging gets it again, so a handler
// writes Event.Sequence with its effect in one transaction, as the program here does: then each event counts once.
package main
