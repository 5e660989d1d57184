package sandbox

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

// TestOpenRunsTheOpener starts the sandbox with a fake opener, and without one.
func TestOpenRunsTheOpener(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("the opener of this system is not looked up in PATH by the test")
		return
	}
	dir := t.TempDir()
	opened := filepath.Join(dir, "opened")
	script := "#!/bin/sh\nprintf %s \"$1\" > " + opened + ".new && /bin/mv " + opened + ".new " + opened + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700))
	t.Setenv("PATH", dir)
	output, end := runCommand(t, "curl", "--listen", "127.0.0.1:0", "--open")
	defer end()
	page := regexp.MustCompile(`The page is at (\S+)`).FindStringSubmatch(output)
	require.Len(t, page, 2, output)
	require.Eventually(t, func() bool {
		got, err := os.ReadFile(opened)
		return err == nil && string(got) == page[1]
	}, 2*time.Minute, 5*time.Millisecond)
	t.Setenv("PATH", filepath.Join(dir, "none"))
	require.ErrorContains(t, openBrowser(t.Context(), page[1]), "the page is at "+page[1])
}

func TestCommandRefusesFlags(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for want, args := range map[string][]string{
		"is taken":                           {"-listen", taken.Addr().String()},
		"-listen":                            {"-listen", "nowhere"},
		"-contract: open":                    {"-contract", filepath.Join(dir, "absent.json")},
		"is a directory":                     {"-contract", dir},
		"sms.send.colour":                    {"-contract", file("unknown.json", `{"sms.send": {"colour": 1}}`)},
		"longer than 1 MiB":                  {"-contract", file("long.json", strings.Repeat(" ", 1<<20+1))},
		"-webhook-sms: want an address":      {"-webhook-sms", "hooks/sms"},
		"-webhook-chatapp2: want an address": {"-webhook-chatapp2", "ftp://127.0.0.1/"},
		"-token: must be":                    {"-token", "two words"},
		"there is no fault \"status-402\"":   {"--fault", "status-402,n=1"},
		"give n, share or duration":          {"--fault", "slow,delay=2s"},
		"unknown field \"colour\"":           {"--fault", "slow,n=1,colour=red"},
		"n must be a whole number, not":      {"--fault", "slow,n=1.5"},
		"skip must be a whole number":        {"--fault", "slow,n=1,skip="},
		"id must be a whole number, not a":   {"--fault", "slow,n=1,id=first"},
		"share must be a number from 0 to 1": {"--fault", "slow,share=half"},
		"delay is missing: slow waits":       {"--fault", "slow,n=1"},
		"fault is set twice":                 {"--fault", "slow,fault=page,n=1"},
		"code is not for page":               {"--fault", "page,n=1,status=500,retryAfter=1s,code=1"},
		"-fault: more than 100":              slices.Repeat([]string{"--fault", "page,n=1"}, maxFaultRules+1),
		"unknown flag: --colour":             {"--colour", "red"},
		"unexpected argument":                {"now"},
	} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, cli.ExitUsage, execute(t.Context(), args, &stdout, &stderr), want)
		assert.Contains(t, stderr.String(), want)
		assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one line: %s", stderr.String())
		assert.Empty(t, stdout.String(), want)
	}
	var stdout bytes.Buffer
	assert.Equal(t, 0, execute(t.Context(), []string{"-h"}, &stdout, io.Discard))
	assert.Contains(t, stdout.String(), "--webhook-chatapp1")
	for _, kind := range faultKinds() {
		assert.Contains(t, stdout.String(), "\n  "+kind.Name)
	}
	assert.Regexp(t, `\n  status +status \(200 to 599, by default 429\), retryAfter \(up to 1h\)\n`, stdout.String())
	assert.Regexp(t, `\n  code +code, status \(400 to 599, by default 400\)\n`, stdout.String())
	assert.Contains(t, stdout.String(), "an older one before a newer one")
	assert.Contains(t, stdout.String(), "adds messages of earlier days")
}

// TestFaultsFromTheStart: the flag puts faults in force in every space, and a full reset restores them.
func TestFaultsFromTheStart(t *testing.T) {
	t.Parallel()
	output, end := runCommand(t, "The page is at", "--listen", "127.0.0.1:0", "--token", "my-token",
		"--fault", "status,status=429,retryAfter=2s,n=1,skip=1", "--fault", "code,code=131026,share=1,to="+ana)
	defer end()
	base, _ := strings.CutPrefix(strings.Split(output, "\n")[0], "export MESSAGING_BASE_URL=")
	send := func(token, to string) error {
		client, err := messaging.NewClient(base, messaging.WithToken(token), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		require.NoError(t, err)
		_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: to, Text: "Hi"})
		return err
	}
	const ben = "+639180001111"
	check := func(token string) {
		require.NoError(t, send(token, ben), "it passes")
		err := send(token, ben)
		require.ErrorIs(t, err, messaging.ErrRateLimited)
		wait, _ := messaging.Retryable(err)
		assert.Equal(t, 2*time.Second, wait)
		require.NoError(t, send(token, ben), "it is over")
		assert.ErrorContains(t, send(token, ana), "131026")
	}
	check("my-token")
	check("my-token.signup")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+Root+"reset", strings.NewReader(`{"all":true}`))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer my-token")
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	check("my-token")
}

// runCommand runs the command and returns its lines up to the one with a text, and a function that ends it.
func runCommand(t *testing.T, until string, args ...string) (output string, end func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	code := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		code <- execute(ctx, args, writer, &stderr)
		writer.Close()
	}()
	buffer := make([]byte, 4096)
	for !strings.Contains(output, until) {
		n, err := reader.Read(buffer)
		output += string(buffer[:n])
		require.NoError(t, err, "%s %s", output, &stderr)
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	return output, func() int {
		cancel()
		return <-code
	}
}

func TestCommandPrintsEnvironment(t *testing.T) {
	t.Parallel()
	output, end := runCommand(t, "The page is at", "-listen", "127.0.0.1:0", "-token", "my-token")
	lines := strings.Split(output, "\n")
	base, ok := strings.CutPrefix(lines[0], "export MESSAGING_BASE_URL=")
	require.True(t, ok, output)
	assert.Equal(t, "export MESSAGING_TOKEN=my-token", lines[1])
	client, err := messaging.NewClient(base, messaging.WithToken("my-token"))
	require.NoError(t, err)
	receipt, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
	require.NoError(t, err)
	assert.NotEmpty(t, receipt.ID)
	assert.Equal(t, 0, end())
}

// lockedBuffer is what a command prints, for a test that reads meanwhile.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestCommandPrintsEvents(t *testing.T) {
	t.Parallel()
	hook := newHook(t)
	for _, quiet := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		args := []string{"-listen", "127.0.0.1:0", "-token", "my-token", "-webhook-sms", strings.TrimPrefix(hook.URL, "http://") + "/?key=top-secret"}
		if quiet {
			args = append(args, "-quiet")
		}
		var out lockedBuffer
		code := make(chan int, 1)
		go func() { code <- execute(ctx, args, &out, io.Discard) }()
		printed := func(want string) {
			require.Eventually(t, func() bool { return strings.Contains(out.String(), want) }, 2*time.Minute, 5*time.Millisecond, want)
		}
		printed("--data-raw")
		base := regexp.MustCompile(`MESSAGING_BASE_URL=(\S+)`).FindStringSubmatch(out.String())[1]
		client, err := messaging.NewClient(base, messaging.WithToken("my-token"))
		require.NoError(t, err)
		post := func(path, body string) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+Root+path, strings.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer my-token")
			req.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
		}
		_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi\x1b[2J\nthere"})
		require.NoError(t, err)
		post("replies", `{"channel":"sms","from":"`+ana+`","text":"Yes"}`)
		post("faults", `{"fault":"accept-then-drop","n":1}`)
		_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Lost"})
		require.Error(t, err)
		post("faults", `{"fault":"status","status":401,"n":1}`)
		_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Refused"})
		require.Error(t, err)
		if !quiet {
			printed("message  SMS ACME → +639171234567: Hi<U+001B>[2J there (msg-")
			printed("answer   SMS +639171234567 → ACME: Yes")
			printed("callback answer → 200 in")
			printed("fault    POST /sms/send met accept-then-drop: a correct client says unknown")
			printed("fault    POST /sms/send met status → 401: a correct client says refused")
		}
		cancel()
		require.Equal(t, 0, <-code)
		assert.Contains(t, out.String(), "stopped\n")
		assert.NotContains(t, out.String(), "top-secret")
		assert.NotContains(t, out.String(), "\x1b")
		assert.Equal(t, !quiet, strings.Contains(out.String(), "Lost"))
	}
}

// TestPrinterDoesNotBlock prints to a stopped terminal.
func TestPrinterDoesNotBlock(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	p := newPrinter(writer)
	for range 5000 {
		p.print("a line")
	}
	go p.close()
	text, err := io.ReadAll(io.LimitReader(reader, 2000))
	require.NoError(t, err)
	assert.Contains(t, string(text), "lines were not printed")
	drained := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, reader)
		close(drained)
	}()
	<-p.done
	require.NoError(t, writer.Close())
	<-drained
}

// TestPrinterEndsWithinASecond when nothing reads the lines.
func TestPrinterEndsWithinASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		p := newPrinter(writer)
		p.print("a line")
		began := time.Now()
		p.close()
		assert.Equal(t, time.Second, time.Since(began))
		require.NoError(t, reader.Close())
		<-p.done
	})
}

func TestCommandSetsPasswordBeyondLoopback(t *testing.T) {
	t.Parallel()
	output, end := runCommand(t, "not shown again", "-listen", "0.0.0.0:0")
	assert.Regexp(t, `export MESSAGING_BASE_URL=http://127\.0\.0\.1:\d+`, output)
	assert.Equal(t, 0, end())
}

// execute runs the command as main does.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	console := cli.Console{Out: stdout, Err: stderr}
	return console.Execute(ctx, NewCommand(console), args)
}

// TestCommandPrintsCredentialsOfContract runs the command that is printed, and a client with the printed environment.
func TestCommandPrintsCredentialsOfContract(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		contract string
		want     []string // the variables
	}{
		"a key in a header":  {`{"auth": {"keyPair": {"in": "header", "key": "X-Api-Key", "secret": ""}}}`, []string{envAPIKey}},
		"a pair in headers":  {`{"auth": {"keyPair": {"in": "header", "key": "X-Key", "secret": "X-Secret"}}}`, []string{envAPIKey, envAPISecret}},
		"a pair in the body": {`{"auth": {"keyPair": {"in": "body", "key": "u", "secret": "p"}}}`, []string{envAPIKey, envAPISecret}},
		"basic":              {`{"auth": {"keyPair": {"in": "basic"}}}`, []string{envAPIKey, envAPISecret}},
		"a token":            {`{"auth": {"token": {"header": "X-Token", "scheme": ""}}}`, []string{envToken}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "contract.json")
			require.NoError(t, os.WriteFile(file, []byte(tt.contract), 0o600))
			output, end := runCommand(t, "--data-raw", "--listen", "127.0.0.1:0", "--contract", file)
			defer end()
			environment := map[string]string{}
			var names []string
			for _, found := range regexp.MustCompile(`(?m)^export (\w+)=(\S+)$`).FindAllStringSubmatch(output, -1) {
				environment[found[1]] = found[2]
				names = append(names, found[1])
			}
			assert.Equal(t, append(append([]string{"MESSAGING_BASE_URL"}, tt.want...), "MESSAGING_CONTRACT"), names)
			assert.Equal(t, file, environment["MESSAGING_CONTRACT"], "for NewClientFromEnv")

			parsed, err := contract.Parse([]byte(tt.contract))
			require.NoError(t, err)
			option := messaging.WithToken(environment[envToken])
			if environment[envToken] == "" {
				option = messaging.WithAPIKey(environment[envAPIKey], environment[envAPISecret])
			}
			base := environment["MESSAGING_BASE_URL"]
			client, err := messaging.NewClient(base, messaging.WithContract(parsed), option)
			require.NoError(t, err)
			_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
			require.NoError(t, err)

			_, command, ok := strings.Cut(output, "Send a first message:")
			require.True(t, ok)
			response, err := exec.CommandContext(t.Context(), "bash", "-c", strings.TrimSpace(command)).CombinedOutput()
			require.NoError(t, err, "%s", response)
			assert.Regexp(t, `msg-[a-z2-7]{8}-2`, string(response))

			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+Root+"reset", nil)
			require.NoError(t, err)
			r.Header.Set("Authorization", "Bearer "+environment[tt.want[0]])
			reset, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			_ = reset.Body.Close()
			assert.Equal(t, http.StatusOK, reset.StatusCode, "the API takes the key as a token")
		})
	}
}

// TestCurlOfSpaceNamesIt has a key in the body, which cannot name the space.
func TestCurlOfSpaceNamesIt(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"auth": {"keyPair": {"in": "body", "key": "u", "secret": "p"}}}`))
	require.NoError(t, err)
	r := newRig(t, Config{Contract: names})
	space, err := r.spaces.get("signup", true)
	require.NoError(t, err)
	command := space.start(mustRequest(t, r.url)).Ways[0].Code
	response, err := exec.CommandContext(t.Context(), "bash", "-c", command).CombinedOutput()
	require.NoError(t, err, "%s", response)
	assert.Len(t, space.service.Sent(), 1, "%s", response)
}

// TestKeyNamesSpace sends with the key of a space in a header.
func TestKeyNamesSpace(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"auth": {"keyPair": {"in": "header", "key": "X-Api-Key", "secret": ""}}}`))
	require.NoError(t, err)
	r := newRig(t, Config{Contract: names})
	client, err := messaging.NewClient(r.url, messaging.WithContract(names), messaging.WithAPIKey(r.service.APIKey+".signup", ""))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
	require.NoError(t, err)
	assert.Empty(t, r.service.Sent())
	spaces := r.spaces.list()
	require.Len(t, spaces, 1)
	assert.Equal(t, "signup", spaces[0].Name)

	client, err = messaging.NewClient(r.url, messaging.WithContract(names), messaging.WithAPIKey(r.service.APIKey, ""))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
	require.NoError(t, err)
	x := r.exchange(1)
	assert.Contains(t, r.curl(&x, r.url), `-H "X-Api-Key: $MESSAGING_API_KEY"`)
}
