package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/progress"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// bare gives the environment without what the tests put into it for workers.
func bare(environment []string) []string {
	var rest []string
	for _, variable := range environment {
		if !strings.HasPrefix(variable, "MESSAGING_") && !strings.HasPrefix(variable, envEngine+"=") {
			rest = append(rest, variable)
		}
	}
	return rest
}

func TestOneCommandPlaysACampaignWithNothingInstalled(t *testing.T) {
	t.Parallel()
	for name, external := range map[string]bool{"embedded": false, "external": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCampaign(t, quick(), startedEngine(t).URL())
			c.workers.environment = bare(c.workers.environment)
			if external {
				c.workers.environment = append(c.workers.environment, envEngine+"="+c.url)
			}
			output, status := c.command("", "-messages=90", "-rate=0", "-workers=2")
			assert.Equal(t, 0, status, output)
			assert.Contains(t, output, "90 queued, 0 known, 0 bad")
			assert.Contains(t, output, "0 queued, 90 known, 0 bad")
			assert.Contains(t, output, "the verdicts and the ledger of the service agree")
			there, err := progress.Read(t.Context(), c.engine)
			require.NoError(t, err)
			assert.Equal(t, map[bool]int{false: 0, true: 90}[external], there.Total, "NATS_URL does not decide which engine is used")
		})
	}
}

func TestTheCommandsDoACampaignStepByStep(t *testing.T) {
	t.Parallel()
	s := quick()
	c := newCampaign(t, s, startedEngine(t).URL())
	input := lines(t, 12, mixed) + "nonsense\n"
	output, status := c.command(input, "enqueue")
	assert.Equal(t, 1, status, "a bad line does not show in the exit status")
	assert.Contains(t, output, "-:13: no JSON object")
	assert.Contains(t, output, "12 queued, 0 known, 1 bad")

	output, status = c.command("", "rate", "1000")
	assert.Equal(t, 0, status, output)
	c.service.Inject(messagingtest.AcceptThenDrop(), 12) // every message, and chat-app messages cannot be looked up
	worker, err := c.workers.start(t.Context())
	require.NoError(t, err)
	t.Cleanup(worker.kill)
	output, status = c.command("", "status", "-watch")
	assert.Equal(t, 0, status, output)
	require.NoError(t, worker.stop())

	output, status = c.command("", "parked")
	assert.Equal(t, 0, status, output)
	first, _, _ := strings.Cut(output, "\n")
	fields := strings.Split(first, "\t")
	require.Len(t, fields, 4, output)
	reference := strings.Trim(fields[1], `"`)
	output, status = c.command("", "resolve", fields[0], reference, "sent")
	assert.Equal(t, 0, status, output)
	output, status = c.command("", "resolve", fields[0], reference, "again")
	assert.Equal(t, 1, status, output)
	output, status = c.command("", "status")
	assert.Equal(t, 0, status, output)
	status0, err := progress.Read(t.Context(), c.engine)
	require.NoError(t, err)
	assert.Contains(t, output, fmt.Sprintf("%d accepted, %d parked", status0.Messages[outbox.Accepted], status0.Messages[outbox.Parked]))
}

func TestACommandThatIsCalledWronglySaysSo(t *testing.T) {
	c := &campaign{t: t, workers: &launcher{environment: append(bare(os.Environ()), asCommand+"=1")}}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"enqueue"}, envEngine + " is empty"},
		{[]string{"send"}, envURL + " is empty"},
		{[]string{"resolve", "sms"}, "the number of arguments is wrong"},
		{[]string{"rate", "many"}, "N is no number"},
		{[]string{"snd"}, "neither a command nor a file"},
		{[]string{"send", "-nonsense"}, "see -h"},
	} {
		output, status := c.command("", test.args...)
		assert.Equal(t, 2, status, output)
		assert.Contains(t, output, test.want)
	}
	output, status := c.command("", "send", "-h")
	assert.Equal(t, 0, status)
	assert.Contains(t, output, "settle-window")
}

func TestAComparisonSeesEveryDisagreement(t *testing.T) {
	for _, test := range []struct {
		state outbox.State
		tally tally
		agree bool
	}{
		{outbox.Accepted, tally{once: 3}, true},
		{outbox.Accepted, tally{once: 3, never: 1}, false},
		{outbox.Accepted, tally{once: 3, more: 1}, false},
		{outbox.Refused, tally{never: 3}, true},
		{outbox.Refused, tally{never: 3, once: 1}, false},
		{outbox.Parked, tally{never: 3, once: 3}, true},
		{outbox.Parked, tally{more: 1}, false},
		{outbox.Queued, tally{never: 1}, false},
		{outbox.Unknown, tally{once: 1}, false},
	} {
		v := verdict{outbox.SMS, test.state}
		c := &comparison{rows: map[verdict]*tally{v: &test.tally}}
		assert.Equal(t, test.agree, c.agrees(), "%v %+v", test.state, test.tally)
		var table strings.Builder
		c.print(&table)
		assert.Equal(t, test.agree, !strings.Contains(table.String(), "WRONG"))
	}
	assert.False(t, (&comparison{unrecorded: 1}).agrees())
}

func TestALoadThatIsKilledInTheMiddleIsEndedByTheNextOne(t *testing.T) {
	t.Parallel()
	const n = 1000
	c := newCampaign(t, quick(), startedEngine(t).URL())
	program, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(program, "enqueue")
	command.Env, command.Stdin = c.workers.environment, strings.NewReader(lines(t, n, mixed))
	require.NoError(t, command.Start())
	require.Eventually(t, func() bool {
		status, err := progress.Read(t.Context(), c.engine)
		return err == nil && status.Total > n/10
	}, 30*time.Second, time.Millisecond)
	require.NoError(t, command.Process.Kill())
	_ = command.Wait()

	output, status := c.command(lines(t, n, mixed), "enqueue")
	assert.Equal(t, 0, status, output)
	after, err := progress.Read(t.Context(), c.engine)
	require.NoError(t, err)
	assert.Equal(t, map[outbox.State]int{outbox.Queued: n}, after.Messages)
	assert.EqualValues(t, n, after.Waiting, "the stream does not hold each message once")
}
