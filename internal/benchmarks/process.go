package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// The program starts itself in these roles.
const (
	roleServer = "serve"
	roleWorker = "work"
)

// task is what a worker is told on its standard input.
type task struct {
	Work      string
	Contender string `json:",omitempty"` // absent for an observation
	Service   service
	Length    time.Duration
	Short     bool
}

// result is what a worker says on its standard output.
type result struct {
	Sample   sample
	Observed observed
	Error    string `json:",omitempty"`
}

// work does one task in this process.
func (t task) work(ctx context.Context) (result, error) {
	for _, o := range observations() {
		if o.name == t.Work {
			seen, err := o.observe(ctx, t.Short)
			return result{Observed: seen}, err
		}
	}
	for _, w := range contests() {
		if w.name != t.Work {
			continue
		}
		c, ok := w.contender(t.Contender)
		if !ok {
			break
		}
		run, err := c.prepare(ctx, t.Service)
		if err != nil {
			return result{}, err
		}
		length := t.Length * time.Duration(max(1, w.longer))
		s, err := measure(ctx, run, max(1, w.units), length)
		return result{Sample: s}, err
	}
	return result{}, fmt.Errorf("no contender %q in a work %q", t.Contender, t.Work)
}

// shared lets several processes write to one place.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (w *shared) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// runWorker is the role of a worker.
func runWorker(ctx context.Context, in io.Reader, out io.Writer) error {
	var t task
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return err
	}
	r, err := t.work(ctx)
	if err != nil {
		r.Error = err.Error()
	}
	return json.NewEncoder(out).Encode(r)
}

// runServer is the role of the server: it says where it listens, and ends when its standard input does.
func runServer(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	at, err := startService(ctx)
	if err != nil {
		return err
	}
	if err = json.NewEncoder(out).Encode(at); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// processes starts this program in its other roles.
type processes struct {
	program string
	service service
	folder  string // of the certificate
	stop    func() error
}

// startProcesses starts the server.
func startProcesses(ctx context.Context, errs io.Writer) (*processes, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	server := exec.CommandContext(ctx, program, roleServer)
	server.Env, server.Stderr = []string{}, errs
	in, err := server.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err = server.Start(); err != nil {
		return nil, err
	}
	p := &processes{program: program}
	p.stop = func() error {
		closed := in.Close()
		return errors.Join(closed, server.Wait(), os.RemoveAll(p.folder))
	}
	if err = json.NewDecoder(out).Decode(&p.service); err != nil {
		return nil, errors.Join(fmt.Errorf("the server did not start: %w", err), p.stop())
	}
	if p.folder, err = os.MkdirTemp("", "benchmarks"); err == nil {
		err = os.WriteFile(p.certificate(), p.service.Certificate, 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func (p *processes) certificate() string { return filepath.Join(p.folder, "certificate.pem") }

// do has a task done in a process of its own. Its environment is empty, so that no client finds settings there, but for
// the certificates that it is to trust.
func (p *processes) do(ctx context.Context, t task, errs io.Writer) (result, error) {
	t.Service = p.service
	input, err := json.Marshal(t)
	if err != nil {
		return result{}, err
	}
	worker := exec.CommandContext(ctx, p.program, roleWorker)
	worker.Env = []string{"SSL_CERT_FILE=" + p.certificate()}
	worker.Stdin, worker.Stderr = bytes.NewReader(input), errs
	output, err := worker.Output()
	if err != nil {
		return result{}, fmt.Errorf("%s, %s: %w", t.Work, t.Contender, err)
	}
	var r result
	if err := json.Unmarshal(output, &r); err != nil {
		return result{}, fmt.Errorf("%s, %s: %w", t.Work, t.Contender, err)
	}
	if r.Error != "" {
		return result{}, fmt.Errorf("%s, %s: %s", t.Work, t.Contender, r.Error)
	}
	return r, nil
}
