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

// bare returns the environment without the variables that configure workers.
func bare(environment []string) []string {
	var rest []string
	for _, variable := range environment {
		if !strings.HasPrefix(variable, "MESSAGING_") && !strings.HasPrefix(variable, envEngine+"=") {
			rest = append(rest, variable)
		}
	}
	return rest
}

func TestFullRun(t *testing.T) {
	t.Parallel()
	for name, external := range map[string]bool{"embedded": false, "external": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCampaign(t, quickSettings(), startedEngine(t).URL())
			c.workers.environment = bare(c.workers.environment)
			if external {
				c.workers.environment = append(c.workers.environment, envEngine+"="+c.url)
			}
			output, status := c.command("", "-messages=90", "-rate=0", "-workers=2")
			assert.Equal(t, 0, status, output)
			assert.Contains(t, output, "90 queued, 0 known, 0 bad")
			assert.Contains(t, output, "0 queued, 90 known, 0 bad")
			assert.Contains(t, output, "the verdicts match the messages that the service received")
			there, err := progress.Read(t.Context(), c.engine)
			require.NoError(t, err)
			assert.Equal(t, map[bool]int{false: 0, true: 90}[external], there.Total, "NATS_URL must select the engine")
		})
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	s := quickSettings()
	c := newCampaign(t, s, startedEngine(t).URL())
	input := lines(t, 12, mixedMessage) + "nonsense\n"
	output, status := c.command(input, "enqueue")
	assert.Equal(t, 1, status, "a bad line must show in the exit status")
	assert.Contains(t, output, "-:13: not a JSON object")
	assert.Contains(t, output, "12 queued, 0 known, 1 bad")

	output, status = c.command("", "rate", "1000")
	assert.Equal(t, 0, status, output)
	c.service.Inject(messagingtest.AcceptThenDrop(), 12) // for every message, of which chat-app messages cannot be looked up
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
	output, status = c.command("", "resolve", fields[0], reference, "resend")
	assert.Equal(t, 1, status, output)
	output, status = c.command("", "status")
	assert.Equal(t, 0, status, output)
	counts, err := progress.Read(t.Context(), c.engine)
	require.NoError(t, err)
	assert.Contains(t, output, fmt.Sprintf("%d accepted, %d parked", counts.Messages[outbox.Accepted], counts.Messages[outbox.Parked]))
}

func TestCommandUsageErrors(t *testing.T) {
	c := &campaign{t: t, workers: &launcher{environment: append(bare(os.Environ()), asCommand+"=1")}}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"enqueue"}, envEngine + " is empty"},
		{[]string{"send"}, envURL + " is empty"},
		{[]string{"resolve", "sms"}, "wrong number of arguments"},
		{[]string{"rate", "many"}, "N is not a number"},
		{[]string{"snd"}, "not a command or a file"},
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

func TestComparisonAgrees(t *testing.T) {
	for _, test := range []struct {
		state outbox.State
		tally tally
		agree bool
	}{
		{outbox.Accepted, tally{once: 3}, true},
		{outbox.Accepted, tally{once: 3, unsent: 1}, false},
		{outbox.Accepted, tally{once: 3, more: 1}, false},
		{outbox.Refused, tally{unsent: 3}, true},
		{outbox.Refused, tally{unsent: 3, once: 1}, false},
		{outbox.Parked, tally{unsent: 3, once: 3}, true},
		{outbox.Parked, tally{more: 1}, false},
		{outbox.Queued, tally{unsent: 1}, false},
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

func TestEnqueueCompletesKilledLoad(t *testing.T) {
	t.Parallel()
	const n = 1000
	c := newCampaign(t, quickSettings(), startedEngine(t).URL())
	program, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(program, "enqueue")
	command.Env, command.Stdin = c.workers.environment, strings.NewReader(lines(t, n, mixedMessage))
	require.NoError(t, command.Start())
	require.Eventually(t, func() bool {
		status, err := progress.Read(t.Context(), c.engine)
		return err == nil && status.Total > n/10
	}, 30*time.Second, time.Millisecond)
	require.NoError(t, command.Process.Kill())
	_ = command.Wait()

	output, status := c.command(lines(t, n, mixedMessage), "enqueue")
	assert.Equal(t, 0, status, output)
	after, err := progress.Read(t.Context(), c.engine)
	require.NoError(t, err)
	assert.Equal(t, map[outbox.State]int{outbox.Queued: n}, after.Messages)
	assert.EqualValues(t, n, after.Waiting, "the stream must hold each message once")
}
