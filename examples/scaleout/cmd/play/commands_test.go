package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/command"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// bare returns the environment without the variables that configure workers.
func bare() []string {
	var rest []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "MESSAGING_") && !strings.HasPrefix(variable, command.EnvEngine+"=") {
			rest = append(rest, variable)
		}
	}
	return rest
}

func TestPlay(t *testing.T) {
	t.Parallel()
	c := &campaign{t: t, workers: &launcher{environment: append(bare(), asCommand+"=1")}}
	output, status := c.command("", "-messages=60", "-rate=0", "-workers=2")
	assert.Equal(t, 0, status, output)
	assert.Contains(t, output, "60 queued, 0 known, 0 bad")
	assert.Contains(t, output, "0 queued, 60 known, 0 bad")
	assert.Contains(t, output, "the verdicts match the messages that the service received")
}

func TestPlayRefusesEngineInUse(t *testing.T) {
	t.Parallel()
	c := newCampaign(t, engine.Setup{}, startedEngine(t).URL())
	c.load(30, mixedMessage)
	for _, environment := range []string{"", "other"} {
		output, status := c.command("", "-environment="+environment)
		assert.Equal(t, 2, status, output)
		assert.Contains(t, output, "holds streams already")
	}
	setup, err := c.engine.Setup(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 2*time.Second, setup.AckWait)
	counts, err := c.outbox.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[outbox.State]int{outbox.Queued: 30}, counts.Messages)
	assert.EqualValues(t, 30, counts.Waiting)
	assert.Empty(t, c.service.Sent())
}

func TestOnlyPrepareCreatesStreams(t *testing.T) {
	t.Parallel()
	c := newCampaign(t, engine.Setup{}, startedEngine(t).URL())
	c.workers.environment = append(c.workers.environment, "WEBHOOK_SECRET=s3cret")
	for _, arguments := range [][]string{
		{"enqueue"}, {"send"}, {"status"}, {"parked"}, {"resolve", "-reason=x", "drop"}, {"reconcile"}, {"audit"}, {"rate", "5"}, {"receive", "-address=127.0.0.1:0"}, {"events"},
	} {
		output, status := c.command("", append(arguments[:1:1], append([]string{"-environment=other"}, arguments[1:]...)...)...)
		assert.Equal(t, 2, status, "%v: %s", arguments, output)
		assert.Contains(t, output, "environment other is not prepared, run campaign prepare", arguments)
	}
	output, status := c.command("", "prepare", "-environment=other", "-keep-records=1h")
	assert.Equal(t, 0, status, output)
	output, status = c.command("", "status", "-environment=other")
	assert.Equal(t, 0, status, output)
	assert.Equal(t, "no messages; 0/s\n", output)
}

func TestCommands(t *testing.T) {
	t.Parallel()
	c := newCampaign(t, engine.Setup{}, startedEngine(t).URL())
	input := lines(t, 12, mixedMessage) + "nonsense\n"
	output, status := c.command(input, "enqueue")
	assert.Equal(t, 1, status, "a bad line must show in the exit status")
	assert.Contains(t, output, "-:13: not a JSON object")
	assert.Contains(t, output, "12 queued, 0 known, 1 bad")

	output, status = c.command("", "rate", "1000")
	assert.Equal(t, 0, status, output)
	c.service.Inject(messagingtest.AcceptThenDrop(), 1000) // for every message, of which chat-app messages cannot be looked up
	c.workers.arguments = append(c.workers.arguments, "-monitor=127.0.0.1:0")
	worker := c.start()
	require.Eventually(t, func() bool { return len(c.service.Sent()) == 12 }, 30*time.Second, time.Millisecond)
	c.service.ClearFaults()
	output, status = c.command("", "status", "-watch")
	assert.Equal(t, 0, status, output)
	require.Len(t, worker.printed, 1)
	_, address, _ := strings.Cut(worker.printed[0], "monitor at ")
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ok", "/metrics": `scaleout_attempts_total{channel="sms",outcome="unknown"} 8`} {
		response, err := http.Get(address + path)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, errors.Join(err, response.Body.Close()))
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.Contains(t, string(body), want)
	}
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, worker.stop())

	output, status = c.command("", "parked")
	assert.Equal(t, 0, status, output)
	assert.Equal(t, 4, strings.Count(output, "\n"), output)
	first, _, _ := strings.Cut(output, "\n")
	fields := strings.Split(first, "\t")
	require.Len(t, fields, 4, output)
	reference := strings.Trim(fields[1], `"`)
	output, status = c.command("", "resolve", "-channel="+fields[0], "-note=seen by the recipient", "sent", reference)
	assert.Equal(t, 0, status, output)
	output, status = c.command("", "resolve", "-channel="+fields[0], "resend", reference)
	assert.Equal(t, 1, status, output)
	output, status = c.command("", "resolve", "-reason=no listing", "drop")
	assert.Equal(t, 0, status, output)
	assert.Equal(t, "3 resolved\n", output)
	output, status = c.command("", "status")
	assert.Equal(t, 0, status, output)
	assert.Contains(t, output, "9 accepted, 3 refused; ")
	output, status = c.command("", "reconcile")
	assert.Equal(t, 0, status, output)
	assert.Contains(t, output, "0 without a token")
	output, status = c.command("", "audit")
	assert.Equal(t, 0, status, output)
	assert.Contains(t, output, "8 records and 8 listed messages compared, 0 differences")
}

func TestCommandUsageErrors(t *testing.T) {
	c := &campaign{t: t, workers: &launcher{environment: append(bare(), asCommand+"=1")}}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"enqueue"}, command.EnvEngine + " is empty"},
		{[]string{"send"}, command.EnvURL + " is empty"},
		{[]string{"resolve"}, "wrong number of arguments"},
		{[]string{"resolve", "perhaps", "a"}, "the decision must be"},
		{[]string{"resolve", "drop"}, "name messages, or select them"},
		{[]string{"resolve", "drop", "a"}, "-channel is required"},
		{[]string{"rate", "many"}, "N is not a number"},
		{[]string{"snd"}, "wrong number of arguments"},
		{[]string{"send", "-nonsense"}, "see -h"},
	} {
		output, status := c.command("", test.args...)
		assert.Equal(t, 2, status, output)
		assert.Contains(t, output, test.want)
	}
	output, status := c.command("", "send", "-h")
	assert.Equal(t, 0, status)
	assert.Contains(t, output, "RISK: it is sent twice")
}

func TestVerdictMatchesLedger(t *testing.T) {
	for state, want := range map[outbox.State][]int{
		outbox.Accepted: {1}, outbox.Refused: {0}, outbox.Parked: {0, 1}, outbox.Queued: nil, outbox.Sending: nil, outbox.Unknown: nil,
	} {
		assert.Equal(t, want, possible(state), state)
	}
}

func TestEnqueueCompletesKilledLoad(t *testing.T) {
	t.Parallel()
	const n = 400
	c := newCampaign(t, engine.Setup{}, startedEngine(t).URL())
	program, err := os.Executable()
	require.NoError(t, err)
	load := exec.Command(program, "enqueue")
	load.Env, load.Stdin = c.workers.environment, strings.NewReader(lines(t, n, mixedMessage))
	require.NoError(t, load.Start())
	require.Eventually(t, func() bool {
		status, err := c.outbox.Status(t.Context())
		return err == nil && status.Total > n/10
	}, 30*time.Second, time.Millisecond)
	require.NoError(t, load.Process.Kill())
	_ = load.Wait()

	output, status := c.command(lines(t, n, mixedMessage), "enqueue")
	assert.Equal(t, 0, status, output)
	after, err := c.outbox.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[outbox.State]int{outbox.Queued: n}, after.Messages)
	assert.EqualValues(t, n, after.Waiting, "the stream must hold each message once")
}

func TestReceiveCountsEvents(t *testing.T) {
	t.Parallel()
	c := newCampaign(t, engine.Setup{}, startedEngine(t).URL())
	program, err := os.Executable()
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	receiver := exec.Command(program, "receive", "-address="+address, "-monitor=127.0.0.1:0", "-log=error")
	receiver.Env = append(c.workers.environment, "WEBHOOK_SECRET=s3cret")
	out, err := receiver.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, receiver.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	_, monitor, _ := strings.Cut(lines.Text(), "monitor at ")
	require.True(t, lines.Scan())
	require.Eventually(t, func() bool {
		replies := c.service.Receive(t.Context(), "http://"+address+"/hooks/sms?key=s3cret", messagingtest.InboundSMS{ID: "1", From: "639171234567", To: "ACME", Text: "OK"})
		return len(replies) == 1 && replies[0].StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond)
	response, err := http.Get(monitor + "/metrics")
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	assert.Contains(t, string(body), `scaleout_events_total{callback="sms",outcome="handled"} 1`)
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, receiver.Process.Signal(syscall.SIGTERM))
	require.NoError(t, receiver.Wait())
}
