// Package messagingriver is a transactional outbox: a program enqueues messages in the transactions of its own database, and they are sent
// after the commit. Each message is one job of River (github.com/riverqueue/river), in PostgreSQL or SQLite.
//
//	outbox, err := messagingriver.NewPostgres(pool, client, messagingriver.Options{})
//	err = outbox.Migrate(ctx)
//	err = outbox.Start(ctx) // in a process that sends
//	// ... in the transaction tx that writes the order:
//	_, err = outbox.Insert(ctx, tx, sms.Message{From: "ACME", To: to, Text: "Your order 17 is ready", ReferenceID: "order-17"})
//
// River has the queues, priorities, schedules, retries, pauses and the rescue of jobs whose process died, and River UI shows them. This
// package decides what a queue cannot know: what the outcome of an attempt means for its job.
//
//	outcome of an attempt                                      what follows                    River's state
//	accepted                                                   the receipt is its output       completed
//	refused for good, denied by a guard, invalid, expired      nothing                         cancelled
//	not sent or refused, retryable, the message to blame       another attempt, up to 25       retryable, at last discarded
//	not sent or refused, the service, account or rate to blame it waits, and costs no attempt  available or scheduled
//	an SMS with an unknown outcome, or refused as a duplicate  lookups by its reference ID     scheduled, then completed or discarded
//	a chat-app message with such an outcome                    nothing can look it up          discarded
//
// Discarded means what River says: a person must act, with Resolve. Until then a discarded message is neither sent nor deleted.
//
// # Nothing is sent twice
//
// On PostgreSQL an attempt writes a mark into its job and commits it directly before the request, provided that the job is still its own.
// A job whose process died without a mark is sent again by itself. A job with a mark and without a recorded outcome is never sent again by
// itself: an SMS is looked up, a chat-app message is discarded. On SQLite River's own row decides: a job that was rescued, or that was
// fetched more often than outcomes were recorded, is never sent again by itself.
//
// A message can still be sent twice if
//
//   - a person resolves a message as Resend that did go out,
//   - a process freezes while it writes a request, and the message is resent before that process continues,
//   - the database forgets what it committed: it fails over to a standby that does not confirm commits, SQLite does not run with
//     synchronous=full, or a backup is restored and not compared with what the service lists,
//   - a program enqueues it again after Options.Keep, when its reference ID is forgotten.
//
// # Pauses
//
// While the circuit breaker of a channel is open, or the service says 429 or refuses the account, the queue of that channel is paused in
// all processes, and one message after another probes. A pause by a person, as with River UI, is never undone.
//
// docs/outbox.md in the repository has more for developers and operators, and examples/apps/shop is a whole program.
package messagingriver
