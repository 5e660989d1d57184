// Package messagingriver is a transactional outbox: a program enqueues messages in the transactions of its own database, and they
// are sent after the commit. The queue is River (github.com/riverqueue/river), in PostgreSQL or SQLite.
//
//	outbox, err := messagingriver.NewPostgres(pool, client, messagingriver.Options{})
//	// ... in the transaction tx that writes the order
//	_, err = outbox.Insert(ctx, tx, sms.Message{From: "ACME", To: to, Text: "Your order 17 is ready", ReferenceID: "order-17"})
//
// A process that sends calls AddTo for the configuration of its River client, and starts that client.
//
// A message is unique by its channel and reference ID. A worker claims no more messages than can begin soon, urgent ones first. Each
// attempt is recorded before it begins. Another one begins only if the outcome proves that nothing was sent, or if a person says so.
// So no message is sent twice if a process is killed, if River runs a job twice, or if the database is away when the outcome is
// known. A message can be sent twice in these cases:
//
//   - A person resolves a message as Resend that did go out.
//   - A process freezes while it writes the request, and the message is resent before that process goes on.
//   - The database forgets what it committed: it fails over to a standby that does not confirm commits, SQLite does not run with
//     synchronous=full, or a backup is restored and not compared with what the service lists.
//   - A program enqueues it again after Options.Keep, when its reference ID is forgotten.
//
// What becomes of a message depends on its outcome:
//
//   - Accepted, refused, expired and dropped messages are final. The table messaging_outbox keeps verdict and receipt, and the
//     content of refused and expired ones for Options.KeepRefused. A message that a guard of the client stops for good is refused.
//   - A message that was not sent waits for its next attempt. After the last one it is parked.
//   - An SMS with an unknown outcome is looked up by its reference ID, at once if the client has WithSettle. It is parked if it is
//     not listed within Options.SettleFor. A chat-app message is parked at once: nothing lists those. A person decides about
//     parked messages, with Resolve.
//   - While the circuit breaker of a channel is open, in any process, its messages wait before they are claimed, and one of the
//     whole outbox probes after each pause. HTTP 401 and 402, and codes of their classes, open it at once. Channels are apart, so
//     that one in trouble holds back no other.
//
// Workers show every few seconds that they live. Messages that one had begun when it died are unknown 20 seconds later; other
// workers send all else meanwhile. All times are those of the database's clock.
//
// River's jobs only wake workers, and hold no numbers and no texts. Options.Rate limits the rate of all processes together.
// docs/outbox.md in the repository is about operation, docs/scale.md about failover and backups, and examples/shop is a whole program.
//
// # Stopping
//
// Stop a River client as its documentation shows. AddTo sets SoftStopTimeout if it is zero: jobs under way go on until it is over,
// and then messages whose requests have not begun go back and are sent by other processes. A request that has begun is not
// interrupted, and ends within Options.SendTimeout.
package messagingriver
