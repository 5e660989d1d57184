// Package messagingriver is a transactional outbox: a program enqueues messages in the transactions of its own database, and they
// are sent after the commit. The queue is River (github.com/riverqueue/river), in PostgreSQL or SQLite.
//
//	outbox, err := messagingriver.NewPostgres(pool, client, messagingriver.Options{})
//	// ... in the transaction tx that writes the order
//	_, err = outbox.Insert(ctx, tx, sms.Message{From: "ACME", To: to, Text: "Your order 17 is ready", ReferenceID: "order-17"})
//
// A process that sends calls AddTo for the configuration of its River client, and starts that client.
//
// A message is unique by its channel and reference ID. It is never sent twice: each attempt is recorded before it begins, and only
// an outcome that proves that nothing was sent, or a person, lets another one begin. This holds if a process is killed or frozen
// at any moment, if River runs a job twice, and if the database is away when the outcome is known.
//
//   - Accepted, refused and dropped messages are final. The table messaging_outbox keeps verdict and receipt, and the content of
//     refused ones for Options.KeepRefused.
//   - A message that was not sent waits for its next attempt. After the last one it is parked.
//   - An SMS with an unknown outcome is looked up by its reference ID, and parked if it is not listed within Options.SettleFor. A
//     chat-app message is parked at once: nothing lists those. A person decides about parked messages, with Resolve.
//   - HTTP 401 and 402, and codes of their classes, are about the account. They pause the queue of the channel, and the messages
//     wait on. One message probes now and then whether the queue can be resumed.
//   - While the circuit breaker of a channel is open, its messages wait before they are claimed. Each channel has a queue of its
//     own, so that one in trouble holds back no other.
//
// River's jobs hold channels and reference IDs, no numbers and no texts. Options.Rate limits the rate
// of all processes together. docs/outbox.md in the repository is about operation, and examples/shop is a whole program.
//
// # Stopping
//
// Stop a River client as its documentation shows. AddTo sets SoftStopTimeout if it is zero: jobs under way go on until it is over,
// and then messages whose requests have not begun go back and are sent by other processes. A request that has begun is not
// interrupted, and ends within Options.SendTimeout.
package messagingriver
