package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/messaging-service/messaging-go/examples/scaleout/command"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// launcher starts workers as child processes that run this program.
type launcher struct{ arguments, environment []string }

// newLauncher returns a launcher of workers for an engine and a service. The workers do not see this process's service and credentials.
func newLauncher(on *command.Settings, service *messagingtest.Server, arguments ...string) *launcher {
	environment := append(os.Environ(), "MESSAGING_API_KEY=", "MESSAGING_API_SECRET=", "MESSAGING_CONTRACT=",
		command.EnvURL+"="+service.URL, command.EnvToken+"="+service.Token)
	return &launcher{append([]string{"send", "-exit-on-eof"}, arguments...), append(environment, on.Environ()...)}
}

// worker is a worker process. It does not outlive this process.
type worker struct {
	command *exec.Cmd
	input   io.Closer    // the process exits when it is closed
	printed []string     // what it printed before it began to send
	wait    func() error // until it has exited
}

// start starts a worker, and waits until it sends.
func (l *launcher) start(ctx context.Context) (*worker, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	w := &worker{command: exec.CommandContext(context.WithoutCancel(ctx), program, l.arguments...)} //nolint:gosec // it is this program
	w.wait = sync.OnceValue(w.command.Wait)
	w.command.Env, w.command.Stderr = l.environment, os.Stderr
	output, err := w.command.StdoutPipe()
	if err == nil {
		w.input, err = w.command.StdinPipe()
	}
	if err == nil {
		err = w.command.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if lines.Text() == "sending" { // and prints nothing more
			return w, nil
		}
		w.printed = append(w.printed, lines.Text())
	}
	return nil, fmt.Errorf("starting a worker: it has ended: %w", w.wait())
}

// kill kills the worker. It can be called again, and on no worker.
func (w *worker) kill() {
	if w != nil {
		_ = w.command.Process.Kill()
		_ = w.wait()
		_ = w.input.Close()
	}
}

// stop asks the worker to stop, and waits until it has finished its sends. It can be called on no worker.
func (w *worker) stop() error {
	if w == nil {
		return nil
	}
	defer func() { _ = w.input.Close() }()
	_ = w.command.Process.Signal(syscall.SIGTERM) // an error means that it has exited
	if err := w.wait(); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	return nil
}
