package account

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/webhook"
)

const (
	maxCallback      = 1 << 20  // bytes of the body of a callback
	maxUnproven      = 1000     // callbacks without proof of their origin that --save keeps
	maxUnprovenBytes = 16 << 20 // and how much of them
)

// listener holds the flags of listen, and what it does with a callback.
type listener struct {
	console  cli.Console
	json     bool
	insecure bool
	address  string
	forward  string
	save     string

	mu      sync.Mutex // guards what is printed and saved
	count   int        // of callbacks that were not refused
	refused int
	file    *os.File // nil if nothing is saved
	bytes   int      // in the file
	last    *callback
}

func newListen(console cli.Console) *cobra.Command {
	l := &listener{console: console}
	command := &cobra.Command{
		Use:   "listen",
		Short: "Receive callbacks, print them, and forward them to a program",
		Long: "Receive callbacks at the paths " + l.paths() + `, and print each event.

With --forward each callback that is taken goes on as it is to a program, at its URL and the same path, and the service gets the response of
the program. So a program on this machine can be tried with real callbacks. A line says what the program responded; on a terminal, r and Enter
repeat the last callback. With --save each of them is kept in a file, and "messaging replay" sends it to the program again. The file holds numbers,
texts and secrets. With --insecure anyone can call: it takes the first 1,000 callbacks and 16 MiB of them, each marked as unproven.

The environment is MESSAGING_CONTRACT, the file of an overlay, and MESSAGING_WEBHOOK_SECRET, such as key=SECRET: callbacks must then
have the parameter key with this secret. Without one, --insecure is needed, since anyone who knows the URL can call it.`,
		Example: `  MESSAGING_WEBHOOK_SECRET=key=SECRET messaging listen
  messaging listen --insecure --forward 127.0.0.1:8080/hooks --save callbacks.jsonl
  messaging replay callbacks.jsonl 3 --forward http://127.0.0.1:8080/hooks`,
		Args: cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return l.run(command.Context()) },
	}
	flags := command.Flags()
	flags.BoolVar(&l.json, "json", false, "print events as JSON, one a line")
	flags.BoolVar(&l.insecure, "insecure", false, "take callbacks without a secret")
	flags.StringVar(&l.address, "listen", "127.0.0.1:8027", "the `address` to listen on")
	flags.StringVar(&l.forward, "forward", "", "the `URL` of the program that gets each callback")
	flags.StringVar(&l.save, "save", "", "append each callback to this `file`")
	return command
}

// target reads the URL of --forward. One without a scheme is http.
func target(text string) (*url.URL, error) {
	if text != "" && !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("--forward: want an http or https URL without a query, such as 127.0.0.1:8080/hooks")
	}
	return u, nil
}

func (l *listener) run(ctx context.Context) error {
	options := []webhook.Option{
		webhook.WithPOST(), webhook.WithStatuses(l.report), webhook.WithPreferences(l.preference), webhook.WithOther(l.other),
		webhook.WithHook(webhook.Hook{End: l.refuse}),
	}
	if l.insecure {
		if l.console.Getenv("MESSAGING_WEBHOOK_SECRET") != "" {
			return errors.New("--insecure: MESSAGING_WEBHOOK_SECRET is set, too; want one of them")
		}
		options = append(options, webhook.WithoutProof())
	}
	hooks, err := webhook.NewReceiverFromEnv(options...)
	if err != nil && !l.insecure && l.console.Getenv("MESSAGING_WEBHOOK_SECRET") == "" {
		return fmt.Errorf("%w; --insecure takes callbacks without one", err)
	}
	if err != nil {
		return err
	}
	var forward *url.URL
	if l.forward != "" {
		if forward, err = target(l.forward); err != nil {
			return err
		}
	}
	if l.save != "" {
		const private = 0o600
		if l.file, err = os.OpenFile(l.save, os.O_APPEND|os.O_CREATE|os.O_WRONLY, private); err != nil {
			return fmt.Errorf("--save: %w", err)
		}
		defer func() { _ = l.file.Close() }()
	}
	socket, err := new(net.ListenConfig).Listen(ctx, "tcp", l.address)
	if err != nil {
		return fmt.Errorf("--listen: %w; --listen 127.0.0.1:0 takes any free port", err)
	}
	_, _ = fmt.Fprintf(l.console.Err, "listening on http://%s, at %s\n", socket.Addr(), l.paths())
	if forward != nil && l.console.InTerminal {
		go l.repeat(ctx, forward) // ends with the process
	}
	err = cli.Serve(ctx, socket, l.handler(hooks, forward))
	_, _ = fmt.Fprintf(l.console.Err, "stopped: %d callbacks, %d refused\n", l.count, l.refused)
	return err
}

// paths lists the paths of all callbacks.
func (l *listener) paths() string {
	var paths []string
	for _, hook := range l.hooks() {
		paths = append(paths, "/"+string(hook.callback))
	}
	return strings.Join(paths, ", ")
}

// handler returns the handler of all callbacks.
func (l *listener) handler(rcv *webhook.Receiver, forward *url.URL) http.Handler {
	mux := http.NewServeMux()
	for _, hook := range l.hooks() {
		mux.Handle("/"+string(hook.callback), l.passOn(hook.handler(rcv), forward))
	}
	return mux
}

// passOn prints a callback by the handler of the library. If the handler takes it, it is saved and forwarded. The caller gets the response
// of the program, or that of the handler if nothing is forwarded or the callback was refused.
func (l *listener) passOn(hook http.Handler, forward *url.URL) http.Handler {
	var proxy *httputil.ReverseProxy
	if forward != nil {
		proxy = &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(forward)
				r.Out.Host = forward.Host
			},
			ErrorLog: log.New(io.Discard, "", 0),
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
				l.say("→ the program is down: %v", err)
				if program, ok := w.(*statusWriter); ok {
					program.isDown = true
				}
				w.WriteHeader(http.StatusBadGateway)
			},
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCallback))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		again := func() *http.Request {
			clone := r.Clone(r.Context())
			clone.Body, clone.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			return clone
		}
		handled := heldBack{header: http.Header{}, status: http.StatusOK}
		hook.ServeHTTP(&handled, again())
		isTaken := handled.status == http.StatusOK && (r.Method == http.MethodGet || r.Method == http.MethodPost)
		if err := l.keep(r, body, isTaken); err != nil {
			l.say("--save: %v", err)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if proxy == nil || !isTaken {
			maps.Copy(w.Header(), handled.header)
			w.WriteHeader(handled.status)
			_, _ = w.Write(handled.body.Bytes())
			return
		}
		began, program := time.Now(), statusWriter{ResponseWriter: w}
		proxy.ServeHTTP(&program, again())
		if !program.isDown {
			l.say("→ %d in %v", program.status, time.Since(began).Round(time.Millisecond))
		}
	})
}

// repeat sends the last callback to the program again for each line with an r.
func (l *listener) repeat(ctx context.Context, forward *url.URL) {
	for lines := bufio.NewScanner(l.console.In); lines.Scan(); {
		l.mu.Lock()
		last := l.last
		l.mu.Unlock()
		if strings.TrimSpace(lines.Text()) != "r" {
			l.say("r and Enter repeat the last callback")
			continue
		}
		if last == nil {
			l.say("there is no callback to repeat")
			continue
		}
		u, began := forward.JoinPath(last.Path), time.Now()
		u.RawQuery = last.Query
		if status, err := resend(ctx, *last, u.String()); err != nil {
			l.say("→ the program is down: %v", err)
		} else {
			l.say("→ %d in %v, repeated", status, time.Since(began).Round(time.Millisecond))
		}
	}
}

// say prints a line beside the events.
func (l *listener) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.console.Err, format+"\n", args...)
}

// heldBack is a response that is not written yet.
type heldBack struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *heldBack) Header() http.Header            { return h.header }
func (h *heldBack) WriteHeader(status int)         { h.status = status }
func (h *heldBack) Write(data []byte) (int, error) { return h.body.Write(data) }

// statusWriter keeps the status of a response.
type statusWriter struct {
	http.ResponseWriter

	status int
	isDown bool // it is not the program's
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (l *listener) chatMessage(_ context.Context, m webhook.ChatMessage) error {
	text, err := json.Marshal(m.Content)
	if err != nil {
		return err
	}
	if typed, ok := m.Content.(webhook.Text); ok {
		text = []byte(typed.Body)
	}
	return l.print(string(m.Callback), m.ID, m.From, m.To, string(text), m)
}

func (l *listener) report(_ context.Context, r webhook.DeliveryReport) error {
	return l.print("delivery", r.ID, r.From, r.To, r.Status.String()+" "+r.RawStatus, r)
}

func (l *listener) preference(_ context.Context, p webhook.Preference) error {
	choice := "resumed "
	if p.Stopped {
		choice = "stopped "
	}
	return l.print("preference", "", p.From, p.To, choice+p.Category, p)
}

func (l *listener) other(_ context.Context, o webhook.Other) error {
	return l.print("other", "", o.Field, o.EntryID, string(o.JSON), o)
}

// refuse prints why a callback was refused.
func (l *listener) refuse(_ context.Context, result webhook.Result) {
	if result.Disposition == webhook.DispositionRejected {
		l.say("%s: %v", result.Callback, result.Err)
	}
}

// print prints an event.
func (l *listener) print(kind, id, from, to, text string, event any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.json {
		data, err := json.Marshal(map[string]any{"kind": kind, "event": event})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(l.console.Out, "%s\n", data)
		return err
	}
	_, err := fmt.Fprintf(l.console.Out, "%s  %s  %s  %s → %s  %s\n", time.Now().Format(time.TimeOnly),
		l.console.Paint(color.FgCyan, kind), printable(id), printable(from), printable(to), printable(strings.TrimSpace(text)))
	return err
}

// callback is a request as --save keeps it.
type callback struct {
	Number   int         `json:"number"`
	Unproven bool        `json:"unproven,omitzero"` // it came without a secret: anybody may have made it
	Received time.Time   `json:"received"`
	Method   string      `json:"method"`
	Path     string      `json:"path"`
	Query    string      `json:"query,omitzero"`
	Header   http.Header `json:"header,omitzero"`
	Body     []byte      `json:"body,omitzero"`
}

// keep counts a callback, and appends it to the file of --save if it was taken.
func (l *listener) keep(r *http.Request, body []byte, isTaken bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !isTaken {
		l.refused++
		return nil
	}
	l.count++
	l.last = &callback{l.count, l.insecure, time.Now(), r.Method, r.URL.Path, r.URL.RawQuery, r.Header, body}
	if l.file == nil {
		return nil
	}
	data, err := json.Marshal(l.last)
	if err != nil {
		return err
	}
	if l.insecure && (l.count > maxUnproven || l.bytes+len(data) >= maxUnprovenBytes) {
		if l.bytes < maxUnprovenBytes {
			_, _ = fmt.Fprintf(l.console.Err, "--save: 1,000 callbacks or 16 MiB of them are in the file, and no more are saved without a secret\n")
		}
		l.bytes = maxUnprovenBytes
		return nil
	}
	n, err := l.file.Write(append(data, '\n'))
	l.bytes += n
	return err
}
