package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/messaging-service/messaging-go/examples/scaleout/command"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// launcher starts workers as child processes that run this program.
type launcher struct {
	arguments   []string
	environment []string
	output      io.Writer // of what workers print, or nil
}

// newLauncher returns a launcher of workers for an engine and a service. The workers do not see the environment's service and
// credentials.
func newLauncher(on engine.Options, serviceURL, token string, arguments ...string) *launcher {
	var environment []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, command.EnvEngine+"=") && !strings.HasPrefix(variable, "MESSAGING_") {
			environment = append(environment, variable)
		}
	}
	environment = append(environment, command.EnvEngine+"="+on.URL, command.EnvURL+"="+serviceURL, command.EnvToken+"="+token)
	options := []string{"send", "-exit-on-eof", "-environment=" + on.Environment, "-creds=" + on.Credentials, "-tls-ca=" + on.CA, "-tls-cert=" + on.Certificate, "-tls-key=" + on.Key}
	return &launcher{arguments: append(options, arguments...), environment: environment}
}

// process is a worker process. It does not outlive this process.
type process struct {
	command *exec.Cmd
	stdin   io.Closer     // the worker exits when it is closed
	ready   chan struct{} // closed once the worker is sending
	exited  chan struct{} // closed once the worker has exited
	err     error         // how it exited
}

// start starts a worker.
func (l *launcher) start(ctx context.Context) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	p := &process{ready: make(chan struct{}), exited: make(chan struct{})}
	p.command = exec.CommandContext(context.WithoutCancel(ctx), program, l.arguments...) //nolint:gosec // it is this program
	p.command.Env, p.command.Stderr = l.environment, os.Stderr
	p.command.Stdout = onWrite{l.output, sync.OnceFunc(func() { close(p.ready) })}
	stdin, err := p.command.StdinPipe()
	if err == nil {
		err = p.command.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	p.stdin = stdin
	go func() {
		defer close(p.exited)
		p.err = p.command.Wait()
	}()
	return p, nil
}

// kill kills the worker.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.exited
	_ = p.stdin.Close()
}

// stop asks the worker to stop and waits until it has finished its sends. A worker that is just starting handles no signals yet, so stop
// first waits until it is ready.
func (p *process) stop() error {
	defer func() { _ = p.stdin.Close() }()
	select {
	case <-p.ready:
		_ = p.command.Process.Signal(syscall.SIGTERM) // an error means that it has exited
	case <-p.exited:
	}
	<-p.exited
	if p.err != nil {
		return fmt.Errorf("worker: %w", p.err)
	}
	return nil
}

// onWrite is a writer that calls a function after each line that says that a worker is sending.
type onWrite struct {
	to    io.Writer
	ready func()
}

// Write implements [io.Writer].
func (w onWrite) Write(b []byte) (int, error) {
	if w.to != nil {
		_, _ = w.to.Write(b)
	}
	if strings.Contains(string(b), "sending") {
		w.ready()
	}
	return len(b), nil
}
