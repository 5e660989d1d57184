//go:build unix

package main

import (
	"bufio"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSecondInterruptEndsTheCommand: the first lets a request under way finish for a second.
func TestSecondInterruptEndsTheCommand(t *testing.T) {
	const asCommand = "MESSAGING_TEST_AS_COMMAND" // in the environment: this process is the command
	if os.Getenv(asCommand) != "" {
		os.Args = []string{"messaging", "sandbox", "--quiet", "--listen", "127.0.0.1:0"}
		main()
	}
	t.Parallel()
	for _, interrupts := range []int{1, 2} {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
		command.Env = append(os.Environ(), asCommand+"=1")
		stdout, err := command.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, command.Start())
		lines := bufio.NewScanner(stdout)
		require.True(t, lines.Scan())
		base, err := url.Parse(strings.TrimPrefix(lines.Text(), "export MESSAGING_BASE_URL="))
		require.NoError(t, err)
		conn, err := net.Dial("tcp", base.Host)
		require.NoError(t, err)
		_, err = conn.Write([]byte("POST /sms/send HTTP/1.1\r\nHost: " + base.Host + "\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n"))
		require.NoError(t, err)
		line, err := bufio.NewReader(conn).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "100 Continue") // it reads the body
		began, ended := time.Now(), make(chan error, 1)
		require.NoError(t, command.Process.Signal(os.Interrupt))
		go func() { ended <- command.Wait() }()
		for running := true; running; {
			select {
			case err = <-ended:
				running = false
			case <-time.After(20 * time.Millisecond):
				if interrupts == 2 { // repeatedly: signals that arrive before the first is handled count as one
					_ = command.Process.Signal(os.Interrupt)
				}
			}
		}
		status, ok := command.ProcessState.Sys().(syscall.WaitStatus)
		require.True(t, ok)
		assert.Equal(t, interrupts == 2, status.Signaled(), "%v after %v", err, time.Since(began))
		assert.Equal(t, interrupts == 1, command.ProcessState.Success())
		require.NoError(t, conn.Close())
	}
}
