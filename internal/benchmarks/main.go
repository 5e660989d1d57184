// Command benchmarks runs the benchmarks of this folder, which compare this library with net/http and with other client
// libraries, and writes docs/benchmarks.md:
//
//	go -C internal/benchmarks run .
//
// With -ours it compares only this library with floors that do equal work by hand, and prints the page:
//
//	go -C internal/benchmarks run . -ours
//
// Everything runs in memory and over loopback. Each client is measured in a process of its own in each round, and the server is
// another. It needs a system that has getrusage and lets SSL_CERT_FILE name the certificates to trust, such as Linux.
//
// # Words
//
// Each benchmark is a comparison of several contenders that do the same work: this library, peers, which are client libraries of other
// services, and code by hand. The floor of a contender is equal work by hand. A contender and its floor take turns, and their ratio is
// measured. A preparation returns an operation, which does the work n times and fails if the contender did not understand a response.
//
// # Files
//
//   - main.go: the flags. run.go: rounds, each contender in a process. report.go, report.md.tmpl, chart.go: the page
//   - comparison_test.go: the benchmarks, and how one is measured. Start here
//   - send_test.go, many_test.go, listing_test.go, webhook_test.go: the comparisons
//   - send_floor_test.go, listing_floor_test.go, listing_scanner_test.go, webhook_floor_test.go: the work by hand
//   - peer_test.go, peer_webhook_test.go: what a peer is. Each other peer_*_test.go has one library. replay_test.go makes their floors
//   - server_test.go: the server, its responses, and the transport in memory. listing_pages_test.go: the pages of a listing
//   - contenders_test.go, decode_page_test.go: tests that contenders and floors do their work
//   - main_test.go, report_test.go, chart_test.go: tests of the program
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	rounds int
	length time.Duration
	only   *regexp.Regexp
	folder string // of the page and its charts; empty for standard output
	ours   bool   // measure only this library
}

// everyBenchmark matches all names.
const everyBenchmark = "."

func parse(arguments []string, errs io.Writer) (settings, error) {
	s := settings{only: regexp.MustCompile(everyBenchmark)}
	flags := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.IntVar(&s.rounds, "rounds", 9, "how many rounds are measured")
	flags.DurationVar(&s.length, "length", 300*time.Millisecond, "how long a client and its floor are measured in one round")
	flags.Func("only", "run only the benchmarks that match this `expression`, and write to standard output", func(text string) error {
		var err error
		s.only, err = regexp.Compile(text)
		return err
	})
	flags.StringVar(&s.folder, "o", "", "the `folder` of the page and its charts (default ../../docs)")
	flags.BoolVar(&s.ours, "ours", false, "measure only this library, and write to standard output")
	if err := flags.Parse(arguments); err != nil {
		return settings{}, err
	}
	switch {
	case flags.NArg() > 0:
		return settings{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case s.rounds < 1 || s.length <= 0:
		return settings{}, errors.New("-rounds and -length must be more than 0")
	case s.folder == "" && s.only.String() == everyBenchmark && !s.ours:
		s.folder = filepath.Join("..", "..", "docs")
		if _, err := os.Stat(s.folder); err != nil {
			return settings{}, errors.New("run this in its own folder, as by go -C internal/benchmarks run . or name a folder by -o")
		}
	}
	return s, nil
}

func run(ctx context.Context, arguments []string, out, errs io.Writer) (err error) {
	s, err := parse(arguments, errs)
	if err != nil {
		return err
	}
	program, remove, err := build(ctx, errs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	began := time.Now()
	found, err := program.measure(ctx, s, errs)
	if err != nil {
		return err
	}
	modules, err := exec.CommandContext(ctx, "go", "list", "-m", "all").Output()
	if err != nil {
		return err
	}
	r := report{settings: s, rows: found, machine: thisMachine(), modules: string(modules), date: began, took: time.Since(began)}
	page, err := r.page()
	switch {
	case err != nil:
		return err
	case s.folder == "":
		_, err = out.Write(page)
	default:
		err = errors.Join(os.WriteFile(filepath.Join(s.folder, "benchmarks.md"), page, 0o644), r.writeCharts(s.folder))
	}
	return err
}
