// Package inbox takes in what the messaging service sends, and answers only after the engine has stored it.
//
// A [Publisher] puts each event into the stream INBOX under a subject that its duplicate key makes, where it can stand once. A
// [Store] has receivers agree on who handles an event. [Run] is a receiver: a web server around both, of which any number may
// stand behind one address. [Read] is for whoever works on the events.
//
// # What holds
//
// An event that was answered with 200 is in the stream. An event whose key is lasting (it has an ID; or, for inbound messages, a
// time) is there once for as long as the stream keeps it, however often it comes, to whichever receiver, and whatever is killed in
// between. While the engine is away events are answered with 503, so that the service calls again. Readers get each event at
// least once: see [Read].
//
// # What each kill leaves
//
//	killed after        is left                         the next call of the service
//	the claim           a claim without an owner        503 until the lease is over, then as if it came the first time
//	the event is stored a claim, and the event          503 until the lease is over, then 200: it is found in the stream
//	the completion      everything                      200: it is done
//
// The lease is over by the engine's clock. The clocks of receivers decide nothing about an event with a lasting key.
package inbox
