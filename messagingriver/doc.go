// Package messagingriver is a transactional outbox: a program enqueues messages in the transactions of its own database, and they are sent
// after the commit. Each message is one job of River (github.com/riverqueue/river), in PostgreSQL or SQLite.
//
//	outbox, err := messagingriver.NewPostgres(pool, client, messagingriver.Options{})
//	if err != nil {
//		return err
//	}
//	if err := outbox.Start(ctx); err != nil { // in a process that sends, after Migrate or "outbox migrate"
//		return err
//	}
//	// ... in the transaction tx that writes the order:
//	isNew, err := outbox.Insert(ctx, tx, sms.Message{From: "ACME", To: to, Text: "Your order 17 is ready", ReferenceID: "order-17"})
//
// River provides the queues, priorities, schedules, retries and pauses, and rescues jobs whose process died. River UI shows them. This
// package decides what the outcome of an attempt means for the job:
//
//	outcome of an attempt                                      what follows                    River's state
//	accepted                                                   the receipt is its output       completed
//	refused for good, denied by a guard, invalid, expired      nothing                         cancelled
//	postponed by a guard                                       it waits, and costs no attempt  available or scheduled
//	retryable failure of this message                          another attempt, up to 25       available or retryable, at last discarded
//	retryable failure of the service, account or rate limit    it waits, and costs no attempt  available or scheduled
//	an SMS with an unknown outcome, or refused as a duplicate  lookups by its reference ID     available or scheduled, then one of the final states
//	a chat-app message with such an outcome                    nothing can look it up          discarded
//
// A discarded message waits for a person, who decides with Resolve. Until then it is neither sent nor deleted.
//
// # Nothing is sent twice
//
// On PostgreSQL an attempt writes a mark into its job and commits it directly before the request, provided that no other attempt has the
// job and its queue is not paused. If its process dies, a job without a mark is sent again automatically. A job with a mark but no recorded
// outcome is never resent automatically: an SMS is looked up, and a chat-app message is discarded. On SQLite a rescued job, or one with
// more fetches than recorded outcomes, is never resent automatically. River counts up to 100 fetches of a job; beyond that, only its count
// of rescues is used.
//
// A message can still be sent twice if
//
//   - it is resent although it did go out, or the service accepted it but responded with a refusal,
//   - it is enqueued again after Options.Keep, when its reference ID is forgotten,
//   - a process freezes while it writes the request, and the message is resent before it continues, or
//   - the database forgets commits: it fails over to a standby that does not confirm them, SQLite runs without synchronous=full, or a backup
//     is restored and not compared with what the service lists.
//
// # Pauses
//
// While the circuit breaker of a channel is open, or the service responds with 429 or refuses the account, the queue of that channel is
// paused in all processes, and one message after another probes. A person pauses a channel with PauseChannel, and ResumeChannel ends any pause. The
// outbox never ends the pause of a person. A pause with River UI is a person's, too, unless the outbox had paused the queue before.
//
// https://github.com/messaging-service/messaging-go/blob/main/docs/outbox.md has more for developers and operators, and
// https://github.com/messaging-service/messaging-go/tree/main/examples/apps/shop is a whole program.
package messagingriver
