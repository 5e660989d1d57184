// Package inbox receives the callbacks of the messaging service and responds only after the engine has stored the event.
//
// A [Publisher] publishes each event to the stream INBOX, under a subject made from its duplicate key, which can exist only once. A
// [Store] lets receivers agree on who handles an event. [Serve] is a receiver: a web server on top of both. Any number of receivers can
// share one address. [Read] is for programs that process the events.
//
// # Guarantees
//
// An event that got a 200 response is in the stream. An event with a lasting key (it has an ID or, if it is an inbound message, a
// time) is stored once for as long as the stream keeps it, however often it arrives, at whichever receiver, and whatever is killed
// in between. While the engine is away, events get a 503 response, so that the service calls again. Readers get each event at least
// once; see [Read].
//
// # What each kill leaves
//
//	killed after        leaves                          the service's next call gets
//	claiming            a claim without an owner        503 until the lease ends, then as on the first call
//	storing the event   a claim, and the event          503 until the lease ends, then 200: the event is in the stream
//	completing          everything                      200: the event is a duplicate
//
// Leases end by the engine's clock. The clocks of receivers decide nothing about an event with a lasting key.
package inbox
