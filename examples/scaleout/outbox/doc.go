// Package outbox sends messages from many processes, each once, and knows what became of each.
//
// A [Loader] takes messages in, any number of [Worker] in any number of processes sends them through the library, and a [Desk] is
// for the person who decides on what no process can find out. All of them share the engine: the stream OUTBOX says what is to be
// done, and the bucket records holds, for each channel and reference ID, a [Record] that says what has been done. The record is the
// truth. It is only ever changed by a compare-and-swap, so that two processes that think they have the same message notice.
//
//	loading ──► queued ──► sending ──► accepted
//	               ▲          │ ├────► refused
//	               │          │ └────► queued      nothing was processed: again, after a while
//	               │          ▼
//	               └────── unknown ──► accepted    the service lists it
//	       not listed by SMS    └────► parked      no listing can tell: a person decides
//
// # What each kill leaves
//
//	killed after            is left              and then
//	the record is created   loading              the next load of the message publishes it
//	the stream has it       loading, published   a worker sends it as if it were queued
//	a worker takes it       sending, not sent    another worker looks it up; not listed: it is sent
//	the service has it      sending, sent        another worker looks it up; listed: accepted
//	the verdict is recorded accepted, published  another worker acknowledges it, and sends nothing
//
// A message that is to be sent again after it was taken out of the stream goes through loading, too.
//
// A chat-app message has no listing: where an SMS is looked up, it is parked.
package outbox
