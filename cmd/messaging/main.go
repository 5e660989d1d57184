// Command messaging has tools for programs that send messages through the service:
//
//	messaging sandbox   run the service on this machine, with a web page to see messages, reply to them and inject faults
//	messaging contract  learn the wire names of an account from its documentation
//	messaging check     compare a contract with a real account
//	messaging send      pass one message to the service; the exit status is its verdict
//	messaging list      print sent SMS as a table, CSV or JSON lines
//	messaging find      look an SMS up by its reference ID
//	messaging listen    receive callbacks, print them, and forward them to a program
//	messaging replay    send saved callbacks to a program again
//	messaging version   print the version of this build
//
// A command with -h prints its flags and examples. A command line that cannot be used is one line on standard error and exit
// status 2.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

func main() {
	// net/http logs the beginning of an unexpected second response, which may hold phone numbers. Commands report their own errors.
	log.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, cli.System(), os.Args[1:])
	stop()
	os.Exit(code)
}
