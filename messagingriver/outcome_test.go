package messagingriver_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// outcomes collects what OnOutcome is called with.
type outcomes struct {
	mu   sync.Mutex
	all  map[string][]messagingriver.Outcome
	fail int // so many calls fail
}

func (o *outcomes) add(_ context.Context, outcome messagingriver.Outcome) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[string][]messagingriver.Outcome{}
	}
	o.all[outcome.Reference] = append(o.all[outcome.Reference], outcome)
	if o.fail > 0 {
		o.fail--
		return errors.New("the report cannot be written")
	}
	return nil
}

func (o *outcomes) of(reference string) []messagingriver.Outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all[reference]
}

// await returns the first outcome of a message.
func (o *outcomes) await(t testing.TB, reference string) messagingriver.Outcome {
	t.Helper()
	require.Eventually(t, func() bool { return len(o.of(reference)) > 0 }, patience, 10*time.Millisecond, reference)
	return o.of(reference)[0]
}

// newOutcomeRig returns a test server, an outbox that sends to it, and what the outbox calls OnOutcome with.
func newOutcomeRig(t test) (*messagingtest.Server, rig, *outcomes) {
	t.Helper()
	service := messagingtest.NewServer(t)
	got := new(outcomes)
	options := quick()
	options.OnOutcome = got.add
	return service, t.newRig(t, newClient(t, service), options), got
}

func TestOnOutcomeIsCalledForEachOutcome(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, r, got := newOutcomeRig(t)
		r.start(t)
		r.insert(t, messagingriver.InsertOptions{Campaign: "spring"}, text("accepted"))
		outcome := got.await(t, "accepted")
		require.Equal(t, messaging.Accepted, outcome.Verdict)
		require.True(t, outcome.MayHaveBeenSent())
		require.Equal(t, completed, outcome.State)
		require.NotEmpty(t, outcome.Receipt.ID)
		require.Equal(t, "spring", outcome.Campaign)
		require.Nil(t, outcome.Message)

		service.Inject(messagingtest.FaultStatus(http.StatusUnprocessableEntity, 0), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("refused"))
		outcome = got.await(t, "refused")
		require.Equal(t, messaging.Refused, outcome.Verdict)
		require.False(t, outcome.MayHaveBeenSent())
		require.Equal(t, cancelled, outcome.State)
		require.Contains(t, outcome.Reason, "422")
		require.NotErrorIs(t, outcome.Err, messagingriver.ErrExpired)
		require.Equal(t, chat("refused"), outcome.Message, "it can be sent another way")

		service.Inject(messagingtest.FaultDropUnread(), 1)
		r.insert(t, messagingriver.InsertOptions{}, text("lost"))
		outcome = got.await(t, "lost")
		require.Equal(t, messaging.Unknown, outcome.Verdict)
		require.True(t, outcome.MayHaveBeenSent())
		require.Equal(t, discarded, outcome.State)

		r.insert(t, messagingriver.InsertOptions{Expire: time.Nanosecond}, text("late"))
		outcome = got.await(t, "late")
		require.Equal(t, messaging.NotSent, outcome.Verdict)
		require.False(t, outcome.MayHaveBeenSent())
		require.ErrorIs(t, outcome.Err, messagingriver.ErrExpired)
		for _, reference := range []string{"accepted", "refused", "lost", "late"} {
			require.Len(t, got.of(reference), 1, reference)
		}
	})
}

// The service may have a message that it refused as a duplicate, or in a response that names a message. A fallback could be a second message.
func TestRefusedMessageThatMayHaveBeenSent(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, r, got := newOutcomeRig(t)
		r.start(t)
		service.Inject(messagingtest.FaultCode("200206"), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("duplicate"))
		outcome := got.await(t, "duplicate")
		require.ErrorIs(t, outcome.Err, messaging.ErrDuplicate)
		require.Equal(t, messaging.Unknown, outcome.Verdict)
		require.True(t, outcome.MayHaveBeenSent())

		service.Inject(messagingtest.FaultStatusAfter(http.StatusOK, `{"id":"m-1","code":"200101"}`), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("named"))
		outcome = got.await(t, "named")
		require.Equal(t, messaging.Refused, outcome.Verdict)
		require.True(t, outcome.MayHaveBeenSent())
	})
}

// A message whose metadata cannot be read is discarded, and OnOutcome is called.
func TestOnOutcomeOfUnreadableMetadata(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, r, got := newOutcomeRig(t)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		change := `UPDATE JOBS SET metadata = jsonb_patch(metadata, '{"failures": "many"}')`
		if t.isPostgres {
			change = `UPDATE JOBS SET metadata = metadata || '{"failures": "many"}'`
		}
		r.exec(t, change)
		r.start(t)
		outcome := got.await(t, "a")
		require.Equal(t, discarded, outcome.State)
		require.Equal(t, "the metadata of the job cannot be read", outcome.Reason)
		require.Empty(t, service.Sent())
	})
}

// An attempt that waited records that the message was not sent. If the process dies in the next one, the outcome is unknown again.
func TestOnOutcomeAfterADeathInALaterAttempt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, r, got := newOutcomeRig(t)
		for _, message := range []messaging.Message{text("text"), chat("chat")} {
			r.insert(t, messagingriver.InsertOptions{}, message)
		}
		for _, reference := range []string{"text", "chat"} {
			abandon(t, r, t.isPostgres, reference, `{"begun": "B", "ended": "A", "verdict": "not sent", "snoozes": 1}`)
		}
		r.start(t)
		for _, reference := range []string{"text", "chat"} {
			outcome := got.await(t, reference)
			require.Equal(t, discarded, outcome.State, reference)
			require.Equal(t, messaging.Unknown, outcome.Verdict, reference)
		}
	})
}

// It is not called before River has recorded the outcome, even if its job runs early.
func TestOnOutcomeWaitsForTheRecord(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		goOn := make(chan struct{})
		release := sync.OnceFunc(func() { close(goOn) })
		t.Cleanup(release)
		client := newClient(t, service, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			<-goOn
			return nil
		}))
		var got outcomes
		r := t.newRig(t, client, messagingriver.Options{OnOutcome: got.add})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		await(t, r, "a", running)
		args := `'{"message": ' || id || '}'`
		if t.isPostgres {
			args = "CAST(" + args + " AS JSONB)"
		}
		r.exec(t, "INSERT INTO JOBS (args, kind, max_attempts, queue) SELECT "+args+", 'messaging_outcome', 25, 'messaging_outcomes' FROM JOBS WHERE kind = 'messaging'")
		time.Sleep(2 * time.Second)
		require.Empty(t, got.of("a"))
		release()
		require.Equal(t, messaging.Accepted, got.await(t, "a").Verdict)
	})
}

// An error repeats the call, and never the send.
func TestOnOutcomeIsCalledAgainAfterAnError(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		got := outcomes{fail: 1}
		options := quick()
		options.OnOutcome = got.add
		r := t.newRig(t, newClient(t, service), options)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		require.Eventually(t, func() bool { return len(got.of("a")) == 2 }, patience, 10*time.Millisecond)
		require.Len(t, service.Sent(), 1)
		require.Equal(t, completed, show(t, r, "a").State)
	})
}

// No number of failures ends the calls, and each failure is logged.
func TestOnOutcomeIsCalledUntilItSucceeds(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		const failures = 30 // more than River's attempts by default
		service := messagingtest.NewServer(t)
		log := new(journal)
		var calls atomic.Int64
		options := messagingriver.Options{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
		options.OnOutcome = func(context.Context, messagingriver.Outcome) error {
			switch n := calls.Add(1); {
			case n > failures:
				return nil
			case n%2 == 0:
				panic("the text of a message")
			default:
				return errors.New("the report cannot be written")
			}
		}
		r := t.newRig(t, newClient(t, service), options)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		require.Eventually(t, func() bool {
			r.exec(t, `UPDATE JOBS SET state = 'available', scheduled_at = '2026-01-01 00:00:00'
				WHERE kind = 'messaging_outcome' AND state IN ('available', 'scheduled', 'retryable')`) // without the wait
			return calls.Load() > failures
		}, patience, 50*time.Millisecond) // River asks for jobs once a second
		for _, entry := range []string{
			"OnOutcome failed and will be called again", "channel=sms reference=a", "failures=30 wait=10m0s",
			"the report cannot be written", "panic (string)", "callOnOutcome",
		} {
			require.True(t, log.contains(entry), entry)
		}
		require.False(t, log.contains("the text of a message"), "a panic may hold anything")
		require.Eventually(t, func() bool {
			return r.number(t, "SELECT COUNT(*) FROM JOBS WHERE kind = 'messaging_outcome'") == 0
		}, patience, 50*time.Millisecond)
		require.EqualValues(t, failures+1, calls.Load())
		require.Len(t, service.Sent(), 1)
	})
}

// An outcome whose message was deleted cannot be reported, and the log says so.
func TestOnOutcomeOfADeletedMessageIsLogged(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		log := new(journal)
		got := outcomes{fail: 1}
		options := messagingriver.Options{OnOutcome: got.add, Logger: slog.New(slog.NewTextHandler(log, nil))}
		r := t.newRig(t, newClient(t, service), options)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		got.await(t, "a")
		r.exec(t, "DELETE FROM JOBS WHERE kind = 'messaging' AND state = 'completed'")
		require.Eventually(t, func() bool {
			return log.contains("OnOutcome is not called, because the message was deleted")
		}, time.Minute, 50*time.Millisecond)
		require.Len(t, got.of("a"), 1)
	})
}

// A process is killed between the outcome and the end of its call: another process makes it.
func TestOnOutcomeAfterAKill(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		isPostgres := t.isPostgres
		for _, killAt := range []string{"in OnOutcome", "after the response"} {
			t.Run(killAt, func(t *testing.T) {
				t.Parallel()
				service := messagingtest.NewServer(t)
				p := program{
					Service: service.URL, Token: service.Token, SendTimeout: time.Second, SettleFor: 5 * time.Second, KillAt: killAt, Outcomes: true,
				}
				r := killRig(t, isPostgres, service, &p)
				r.insert(t, messagingriver.InsertOptions{}, text("a"))
				p.begin(t).awaitEnd(t)
				var got outcomes
				options := messagingriver.Options{SendTimeout: p.SendTimeout, SettleFor: p.SettleFor, OnOutcome: got.add}
				r.another(t, newClient(t, service), options).start(t)
				require.Equal(t, messaging.Accepted, got.await(t, "a").Verdict)
				require.Len(t, service.Sent(), 1)
			})
		}
	})
}

// What a frozen process recorded late completes a message that was discarded meanwhile.
func TestLateOutcomeCompletesADiscardedMessage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, r, got := newOutcomeRig(t)
		service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("a"))
		r.start(t)
		await(t, r, "a", discarded)
		if t.isPostgres {
			r.exec(t, `UPDATE JOBS SET metadata = metadata || '{"verdict": "accepted"}' WHERE kind = 'messaging'`)
		} else {
			r.exec(t, `UPDATE JOBS SET metadata = jsonb_patch(metadata, '{"verdict": "accepted"}') WHERE kind = 'messaging'`)
		}
		await(t, r, "a", completed)
		require.Eventually(t, func() bool { return len(got.of("a")) == 2 }, patience, 10*time.Millisecond)
		require.Equal(t, messaging.Accepted, got.of("a")[1].Verdict)
	})
}

// The late outcome is not recorded before its call is certain.
func TestLateOutcomeIsCalledAfterAFailedInsert(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		refuse := "ALTER TABLE JOBS ADD CONSTRAINT refused CHECK (kind <> 'messaging_outcome') NOT VALID"
		allow := "ALTER TABLE JOBS DROP CONSTRAINT refused"
		if !t.isPostgres {
			refuse = "CREATE TRIGGER refused BEFORE INSERT ON JOBS WHEN NEW.kind = 'messaging_outcome' BEGIN SELECT RAISE(ABORT, 'refused'); END"
			allow = "DROP TRIGGER refused"
		}
		_, r, got := newOutcomeRig(t)
		r.insert(t, messagingriver.InsertOptions{}, chat("a"))
		abandon(t, r, t.isPostgres, "a", `{"verdict": "accepted"}`)
		r.exec(t, "UPDATE JOBS SET state = 'discarded', finalized_at = attempted_at")
		r.exec(t, refuse)
		r.start(t)
		time.Sleep(7 * time.Second)
		require.Equal(t, discarded, show(t, r, "a").State)
		r.exec(t, allow)
		require.Equal(t, completed, got.await(t, "a").State)
	})
}

// A process is frozen after it inserted the job that calls OnOutcome, and before River wrote the outcome. The message is rescued, so that job does
// nothing. River writes the outcome when the process continues, during a lookup of another process that does not find the message.
func TestOutcomeThatIsWrittenDuringALookupIsReported(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		asked := make(chan struct{})
		ask := sync.OnceFunc(func() { close(asked) })
		goOn := make(chan struct{})
		release := sync.OnceFunc(func() { close(goOn) })
		defer release()
		client := newClient(t, service, messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				ask()
				<-goOn
				return base.RoundTrip(request)
			})
		}))
		var got outcomes
		options := quick()
		options.OnOutcome = got.add
		r := t.newRig(t, client, options)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		abandon(t, r, t.isPostgres, "a", `{"begun": "A"}`)
		r.start(t)
		<-asked
		mergeMetadataOf(t, r, "a", `{"verdict": "accepted", "ended": "A"}`)
		r.exec(t, "UPDATE JOBS SET state = 'completed', finalized_at = attempted_at WHERE kind = 'messaging'")
		release()
		outcome := got.await(t, "a")
		require.Equal(t, messaging.Accepted, outcome.Verdict)
		require.Equal(t, completed, outcome.State)
		require.Empty(t, service.Sent())
	})
}

// Jobs of outcomes are deleted soon after their calls.
func TestJobsOfOutcomesAreDeleted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, r, got := newOutcomeRig(t)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		got.await(t, "a")
		require.Eventually(t, func() bool {
			return r.number(t, "SELECT COUNT(*) FROM JOBS WHERE kind = 'messaging_outcome'") == 0
		}, patience, 50*time.Millisecond)
	})
}

// A process dies while it cancels a message for which OnOutcome could not be enqueued before. The outcome is reported once.
func TestOutcomeAfterARescueIsReportedOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		var reports atomic.Int64
		options := quick()
		options.OnOutcome = func(context.Context, messagingriver.Outcome) error {
			reports.Add(1)
			return nil
		}
		r := t.newRig(t, newClient(t, service), options)
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		abandon(t, r, t.isPostgres, "a", `{"ends_as": "cancelled", "reason": "denied", "verdict": "not sent"}`)
		r.start(t)
		await(t, r, "a", cancelled)
		time.Sleep(12 * time.Second) // two runs of the maintenance
		require.Equal(t, cancelled, show(t, r, "a").State)
		require.Equal(t, "denied", show(t, r, "a").Reason)
		require.EqualValues(t, 1, reports.Load())
		require.Empty(t, service.Sent())
	})
}

// A late outcome that the database refuses to record does not keep others from being recorded.
func TestLateOutcomeThatFailsBlocksNoOther(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		for _, reference := range []string{"a", "b", "c"} {
			r.insert(t, messagingriver.InsertOptions{}, text(reference))
		}
		merge := `jsonb_patch(metadata, '{"verdict": "accepted"}')`
		if t.isPostgres {
			merge = `metadata || '{"verdict": "accepted"}'`
		}
		r.exec(t, "UPDATE JOBS SET state = 'discarded', finalized_at = created_at, metadata = "+merge)
		refuseUpdates(t, r, "b")
		r.start(t)
		await(t, r, "a", completed)
		await(t, r, "c", completed)
		require.Equal(t, discarded, show(t, r, "b").State)
	})
}

// refuseUpdates makes the database refuse to change the job of a message.
func refuseUpdates(t test, r rig, reference string) {
	t.Helper()
	if !t.isPostgres {
		r.exec(t, `CREATE TRIGGER refuse BEFORE UPDATE ON JOBS WHEN OLD.args->>'reference' = '`+reference+`'
			BEGIN SELECT RAISE(ABORT, 'refused'); END`)
		return
	}
	r.exec(t, `CREATE FUNCTION JOBS_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`)
	r.exec(t, `CREATE TRIGGER refuse BEFORE UPDATE ON JOBS FOR EACH ROW
		WHEN (OLD.args->>'reference' = '`+reference+`') EXECUTE FUNCTION JOBS_refuse()`)
}

// A message whose outcome is final does not wait, although the call of OnOutcome cannot be enqueued yet.
func TestRecordOfAMessageWhoseOutcomeCannotBeReported(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, r, got := newOutcomeRig(t)
		allow := refuseOutcomeJobs(t, r)
		service.Inject(messagingtest.FaultStatus(http.StatusUnprocessableEntity, 0), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("refused"))
		r.start(t)
		refused := awaitDecided(t, r, "refused")
		require.Equal(t, cancelled, refused.EndsAs)
		require.Equal(t, messaging.Refused, refused.Verdict)
		require.Contains(t, refused.Reason, "422")

		service.Inject(messagingtest.FaultDropUnread(), 1)
		r.insert(t, messagingriver.InsertOptions{}, chat("lost"))
		lost := awaitDecided(t, r, "lost")
		require.Equal(t, discarded, lost.EndsAs)
		require.Equal(t, messaging.Unknown, lost.Verdict)
		require.Zero(t, lost.DoubtEnds)

		allow()
		require.Empty(t, await(t, r, "refused", cancelled).EndsAs)
		require.Empty(t, await(t, r, "lost", discarded).EndsAs)
		require.Equal(t, messaging.Refused, got.await(t, "refused").Verdict)
		require.Equal(t, messaging.Unknown, got.await(t, "lost").Verdict)
	})
}

// awaitDecided returns the record of a message when its outcome is final and its job waits.
func awaitDecided(t test, r rig, reference string) messagingriver.Record {
	t.Helper()
	var record messagingriver.Record
	require.Eventually(t, func() bool {
		record = show(t, r, reference)
		return record.EndsAs != "" && record.State != running
	}, patience, 20*time.Millisecond, reference)
	return record
}

// refuseOutcomeJobs makes the database refuse the jobs that call OnOutcome, until allow is called.
func refuseOutcomeJobs(t test, r rig) (allow func()) {
	t.Helper()
	if !t.isPostgres {
		r.exec(t, `CREATE TRIGGER refuse BEFORE INSERT ON JOBS WHEN NEW.kind = 'messaging_outcome' BEGIN SELECT RAISE(ABORT, 'refused'); END`)
		return func() { r.exec(t, "DROP TRIGGER refuse") }
	}
	r.exec(t, `CREATE FUNCTION JOBS_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`)
	r.exec(t, `CREATE TRIGGER refuse BEFORE INSERT ON JOBS FOR EACH ROW WHEN (NEW.kind = 'messaging_outcome') EXECUTE FUNCTION JOBS_refuse()`)
	return func() { r.exec(t, "DROP TRIGGER refuse ON JOBS") }
}
