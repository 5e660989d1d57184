// Package outbox sends messages from many processes, each message once, and records what became of each.
//
// A [Loader] takes messages in. Any number of [Worker] values in any number of processes send them through the library. A
// [Resolver] lets an operator decide what no process can find out. They share the engine: the stream OUTBOX holds the work to do,
// and the bucket records holds one [Record] for each channel and reference ID. The record is the truth. It changes only by
// compare-and-swap, so two processes that hold the same message notice each other.
//
//	loading ──► queued ──► sending ──► accepted
//	               ▲          │ ├────► refused
//	               │          │ └────► queued      not processed: try again later
//	               │          ▼
//	               └────── unknown ──► accepted    the service lists it
//	     the SMS is not listed └─────► parked      no listing can settle it: an operator decides
//
// # What each kill leaves
//
//	killed after             leaves               next
//	creating the record      loading              the next load of the message publishes it
//	publishing               loading, published   a worker sends it as if it were queued
//	claiming the message     sending, not sent    another worker looks it up, does not find it, and sends it
//	sending                  sending, sent        another worker looks it up and finds it: accepted
//	recording the verdict    accepted, published  another worker acknowledges it and sends nothing
//
// A message that has left the stream and is to be sent again goes through loading, too.
//
// Chat-app messages cannot be listed. Where an SMS would be looked up, a chat-app message is parked.
package outbox
