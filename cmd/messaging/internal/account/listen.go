package account

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/webhook"
)

// listener holds the flags of listen and the state of a run.
type listener struct {
	console  cli.Console
	json     bool
	insecure bool
	address  string
	forward  string
	save     string

	program *program // nil without --forward

	mu       sync.Mutex // guards the fields below and the output
	accepted int
	refused  int
	file     *saveFile // nil without --save
}

func newListen(console cli.Console) *cobra.Command {
	l := &listener{console: console}
	command := &cobra.Command{
		Use:   "listen",
		Short: "Receive callbacks, print them, and forward them to a program",
		Long: "Receive callbacks at the paths " + l.paths() + `, and print each event.

With --forward, each accepted callback is sent on unchanged to a program, at its URL and the same path, and the service gets the program's
response. This lets you try a program on this machine with real callbacks. A line shows the program's status and how long it took, or that it
is down.

With --save, each accepted callback is appended to a file, from which "messaging replay" sends it again. The file holds phone numbers, texts
and secrets. With --insecure, anyone can call: each callback is marked as unproven, and saving stops at 1,000 callbacks or 16 MiB.

The environment has MESSAGING_CONTRACT, the file of an overlay, and MESSAGING_WEBHOOK_SECRET, such as key=SECRET: callbacks must then have the
parameter key with this secret. Without a secret, --insecure is required, because anyone who knows the URL can call it.`,
		Example: `  MESSAGING_WEBHOOK_SECRET=key=SECRET messaging listen
  messaging listen --insecure --forward 127.0.0.1:8080/hooks --save callbacks.jsonl
  messaging replay callbacks.jsonl 3 --forward http://127.0.0.1:8080/hooks`,
		Args: cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return l.run(command.Context()) },
	}
	flags := command.Flags()
	flags.BoolVar(&l.json, "json", false, "print events as JSON, one a line")
	flags.BoolVar(&l.insecure, "insecure", false, "accept callbacks without a secret")
	flags.StringVar(&l.address, "listen", "127.0.0.1:8027", "the `address` to listen on")
	flags.StringVar(&l.forward, "forward", "", "the `URL` of the program that gets each callback")
	flags.StringVar(&l.save, "save", "", "append each accepted callback to this `file`")
	return command
}

func (l *listener) run(ctx context.Context) error {
	receiver, err := l.newReceiver()
	if err != nil {
		return err
	}
	if l.forward != "" {
		if l.program, err = newProgram(l.forward); err != nil {
			return err
		}
	}
	if l.save != "" {
		if l.file, err = openSaveFile(l.save, l.insecure); err != nil {
			return fmt.Errorf("--save: %w", err)
		}
		defer l.closeFile()
	}
	socket, err := new(net.ListenConfig).Listen(ctx, "tcp", l.address)
	if err != nil {
		return cli.ListenError(l.address, err)
	}
	l.printf("listening on http://%s, at %s; %s", socket.Addr(), l.paths(), l.proof())
	err = cli.Serve(ctx, socket, l.handler(receiver))
	accepted, refused := l.counts()
	l.printf("stopped: %d callbacks, %d refused", accepted, refused)
	return err
}

// proof says what callbacks need to be accepted, and how many secrets the environment has. It shows no secret.
func (l *listener) proof() string {
	secrets := strings.Fields(os.Getenv("MESSAGING_WEBHOOK_SECRET"))
	switch {
	case l.insecure:
		return "anyone may call"
	case len(secrets) == 1:
		return "callbacks need the secret of MESSAGING_WEBHOOK_SECRET"
	default:
		return fmt.Sprintf("callbacks need one of the %d secrets of MESSAGING_WEBHOOK_SECRET", len(secrets))
	}
}

// counts returns the numbers of callbacks. Handlers that cli.Serve has cut off may still run.
func (l *listener) counts() (accepted, refused int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accepted, l.refused
}

// closeFile closes the file of --save. A handler that saves a callback later gets an error.
func (l *listener) closeFile() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file.close()
}

// newReceiver returns the receiver of the environment.
func (l *listener) newReceiver() (*webhook.Receiver, error) {
	options := []webhook.Option{
		webhook.WithPOST(), webhook.WithStatuses(l.printReport), webhook.WithPreferences(l.printPreference), webhook.WithOther(l.printOther),
		webhook.WithHook(webhook.Hook{End: l.printRefusal}),
	}
	hasSecret := os.Getenv("MESSAGING_WEBHOOK_SECRET") != ""
	if l.insecure && hasSecret {
		return nil, errors.New("--insecure: cannot be combined with MESSAGING_WEBHOOK_SECRET, which is set")
	}
	if l.insecure {
		options = append(options, webhook.WithoutProof())
	}
	if !l.insecure && !hasSecret {
		return nil, errors.New("MESSAGING_WEBHOOK_SECRET: required, such as key=SECRET, or anyone could call; --insecure accepts callbacks without a secret")
	}
	return webhook.NewReceiverFromEnv(options...)
}

// paths lists the paths of all callbacks.
func (l *listener) paths() string {
	var paths []string
	for _, hook := range l.hooks() {
		paths = append(paths, hook.path())
	}
	return strings.Join(paths, ", ")
}

// handler returns the handler of all callbacks.
func (l *listener) handler(receiver *webhook.Receiver) http.Handler {
	mux := http.NewServeMux()
	for _, hook := range l.hooks() {
		handle := hook.handler(receiver)
		mux.HandleFunc(hook.path(), func(w http.ResponseWriter, r *http.Request) { l.serve(w, r, handle) })
	}
	return mux
}

// serve prints a callback with the handler of the library. An accepted callback is saved and forwarded, and the caller gets the
// response of the program. Otherwise the caller gets the response of the handler.
func (l *listener) serve(w http.ResponseWriter, r *http.Request, handle http.Handler) {
	const maxBody = 4 << 20 // more than the receiver takes
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		l.refuseBody(w, r, err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	response := bufferedResponse{header: http.Header{}, status: http.StatusOK}
	handle.ServeHTTP(&response, r)
	hasEffect := r.Method == http.MethodGet || r.Method == http.MethodPost
	if response.status != http.StatusOK || !hasEffect {
		l.countRefused()
		response.writeTo(w)
		return
	}
	c, err := l.record(newCallback(r, body))
	if err != nil {
		l.printf("--save: %v", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if l.program == nil {
		response.writeTo(w)
		return
	}
	l.pass(r.Context(), c).writeTo(w)
}

// refuseBody refuses a callback whose body cannot be read: it is too long, or ended early.
func (l *listener) refuseBody(w http.ResponseWriter, r *http.Request, err error) {
	l.countRefused()
	l.printf("%s: the body cannot be read: %v", r.URL.Path, err)
	status := http.StatusBadRequest
	if _, isTooLong := errors.AsType[*http.MaxBytesError](err); isTooLong {
		status = http.StatusRequestEntityTooLarge
	}
	w.WriteHeader(status)
}

// pass sends a callback to the program, prints the result, and returns the response for the service: 502 if the program gave none.
func (l *listener) pass(ctx context.Context, c *callback) *bufferedResponse {
	began := time.Now()
	response, err := l.program.send(ctx, c)
	took := time.Since(began).Round(time.Millisecond)
	if err == nil {
		l.printf("→ %d in %v for %s", response.status, took, c.Path)
		return response
	}
	if isDialError(err) {
		l.printf("→ the program is down: %v", err)
	} else {
		l.printf("→ no response in %v for %s: %v", took, c.Path, err)
	}
	return &bufferedResponse{status: http.StatusBadGateway}
}

// isDialError reports whether a connection could not be made.
func isDialError(err error) bool {
	failed, isNetwork := errors.AsType[*net.OpError](err)
	return isNetwork && failed.Op == "dial"
}

// printf prints a line on standard error.
func (l *listener) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintln(l.console.Err, printable(fmt.Sprintf(format, args...)))
}

func (l *listener) countRefused() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused++
}

// record numbers an accepted callback and saves it.
func (l *listener) record(c *callback) (*callback, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted++
	c.Number = l.accepted
	c.Unproven = l.insecure
	if l.file == nil {
		return c, nil
	}
	isFull, err := l.file.add(c)
	if isFull {
		_, _ = fmt.Fprintln(l.console.Err, "--save: the file has 1,000 callbacks or 16 MiB, and no more are saved without a secret")
	}
	return c, err
}

// bufferedResponse is a response in memory.
type bufferedResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (b *bufferedResponse) Header() http.Header            { return b.header }
func (b *bufferedResponse) WriteHeader(status int)         { b.status = status }
func (b *bufferedResponse) Write(data []byte) (int, error) { return b.body.Write(data) }

func (b *bufferedResponse) writeTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), b.header)
	w.WriteHeader(b.status)
	_, _ = w.Write(b.body.Bytes()) //nolint:gosec // for a service, and not for a browser
}

func (l *listener) printChatMessage(_ context.Context, m webhook.ChatMessage) error {
	text, err := json.Marshal(m.Content)
	if err != nil {
		return err
	}
	if typed, ok := m.Content.(webhook.Text); ok {
		text = []byte(typed.Body)
	}
	return l.print(string(m.Callback), m.ID, m.From, m.To, string(text), m)
}

func (l *listener) printReport(_ context.Context, r webhook.DeliveryReport) error {
	return l.print("delivery", r.ID, r.From, r.To, r.Status.String()+" "+r.RawStatus, r)
}

func (l *listener) printPreference(_ context.Context, p webhook.Preference) error {
	choice := "resumed "
	if p.Stopped {
		choice = "stopped "
	}
	return l.print("preference", "", p.From, p.To, choice+p.Category, p)
}

func (l *listener) printOther(_ context.Context, o webhook.Other) error {
	return l.print("other", "", o.Field, o.EntryID, string(o.JSON), o)
}

// printRefusal prints why a callback was refused.
func (l *listener) printRefusal(_ context.Context, result webhook.Result) {
	if result.Disposition == webhook.DispositionRefused {
		l.printf("%s: %v", result.Callback, result.Err)
	}
}

// print prints an event.
func (l *listener) print(kind, id, from, to, text string, event any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.json {
		return writeJSON(l.console.Out, map[string]any{"kind": kind, "event": event})
	}
	_, err := fmt.Fprintf(l.console.Out, "%s  %s  %s  %s → %s  %s\n", time.Now().Format(time.TimeOnly),
		l.console.Paint(color.FgCyan, kind), printable(id), printable(from), printable(to), printable(strings.TrimSpace(text)))
	return err
}
