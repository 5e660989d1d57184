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
)

// launcher starts workers as processes of their own: this program again.
type launcher struct {
	settings    *settings
	environment []string
}

// newLauncher makes a launcher of workers for an engine and a service. Where the service is a stand-in, what the environment says of
// another goes to nobody.
func newLauncher(s *settings, engineURL, serviceURL, token string) *launcher {
	var environment []string
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, envEngine+"=") || serviceURL != "" && strings.HasPrefix(variable, "MESSAGING_") {
			continue
		}
		environment = append(environment, variable)
	}
	environment = append(environment, envEngine+"="+engineURL)
	if serviceURL != "" {
		environment = append(environment, envURL+"="+serviceURL, envToken+"="+token)
	}
	return &launcher{settings: s, environment: environment}
}

// process is a worker. It ends with this process, whatever ends that.
type process struct {
	command *exec.Cmd
	tie     io.Closer
	ready   chan struct{} // closed when it has said that it works
	ended   chan struct{} // closed when it has ended
	err     error         // of its end
}

// start starts a worker.
func (l *launcher) start(ctx context.Context) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	p := &process{ready: make(chan struct{}), ended: make(chan struct{})}
	p.command = exec.CommandContext(context.WithoutCancel(ctx), program, append([]string{"send", "-tied"}, l.settings.arguments()...)...) //nolint:gosec // it is this program
	p.command.Env, p.command.Stderr = l.environment, os.Stderr
	p.command.Stdout = onWrite(sync.OnceFunc(func() { close(p.ready) }))
	tie, err := p.command.StdinPipe()
	if err == nil {
		err = p.command.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	p.tie = tie
	go func() {
		defer close(p.ended)
		p.err = p.command.Wait()
	}()
	return p, nil
}

// kill ends the worker at once, in the middle of whatever it does.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.ended
	_ = p.tie.Close()
}

// stop lets the worker end what it has begun. One that is just starting is waited for: before it works it knows no signal.
func (p *process) stop() error {
	defer func() { _ = p.tie.Close() }()
	select {
	case <-p.ready:
		_ = p.command.Process.Signal(syscall.SIGTERM) // an error says that it has ended
	case <-p.ended:
	}
	<-p.ended
	if p.err != nil {
		return fmt.Errorf("a worker: %w", p.err)
	}
	return nil
}

// onWrite calls a function for what is written.
type onWrite func()

// Write throws away what it gets.
func (f onWrite) Write(b []byte) (int, error) {
	f()
	return len(b), nil
}
