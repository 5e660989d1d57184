// Package outbox sends messages from many processes, each message once, and records what became of each.
//
// [Outbox.Load] takes messages in. Any number of [Worker] values in any number of processes send them through the library.
// [Outbox.Resolve] carries out what an operator decides where no process can find out. They share the engine. The bucket records holds one
// [Record] for each channel and reference ID, with the message in it until the service has accepted it. The record is the truth. It changes
// only by compare-and-swap, so two processes that hold the same message notice each other. The stream OUTBOX holds a token for each message
// that is still to be sent or looked up: a subject without content. Nothing is lost with a token; [Outbox.Reconcile] creates it again.
//
//	queued ──► sending ──► accepted
//	   ▲          │ ├────► refused
//	   ├──────────┼─┘      not processed: try again later
//	   │          ▼
//	   └────── unknown ──► accepted    the service lists it
//	    not listed │       parked      no listing settles it in time, or at all: an operator decides
//	 (with Resend) └──────►
//
// # What each kill leaves
//
//	killed after             leaves               next
//	creating the record      queued, no token     the next load of the message, or Reconcile, creates the token
//	claiming the message     sending, not sent    another worker looks it up
//	sending                  sending, sent        another worker looks it up and finds it: accepted
//	recording the verdict    accepted, a token    another worker removes the token and sends nothing
//
// A message that is not listed can be sent again only by an operator, or by a worker with the option Resend. Chat-app messages cannot be
// listed. Where an SMS would be looked up, a chat-app message is parked.
//
// # Versions
//
// Workers of different versions can share an engine. A record holds the bytes of the message as they were loaded, and a worker never
// writes them anew. A worker that cannot read a message leaves it to others, and parks it only after many tries.
package outbox
