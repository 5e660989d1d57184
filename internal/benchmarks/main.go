// Command benchmarks measures this library beside net/http and beside other client libraries, and writes
// docs/benchmarks.md:
//
//	go -C internal/benchmarks run .
//
// Everything runs in memory and over loopback. The server is a process of its own, and so is each client that is measured. It
// needs a system that has getrusage and lets SSL_CERT_FILE name the certificates to trust, such as Linux.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
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
	output string // standard output where empty
	short  bool
}

func parse(arguments []string, errs io.Writer) (settings, error) {
	s := settings{only: regexp.MustCompile("")}
	flags := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.IntVar(&s.rounds, "rounds", 9, "how many rounds are measured")
	flags.DurationVar(&s.length, "length", 150*time.Millisecond, "how long one client is measured in one round")
	flags.Func("only", "measure only the works whose name matches this `expression`; the report goes to standard output, unless -o is given", func(expression string) error {
		var err error
		s.only, err = regexp.Compile(expression)
		return err
	})
	flags.StringVar(&s.output, "o", "", "the `file` to write (default docs/benchmarks.md)")
	flags.BoolVar(&s.short, "short", false, "see that everything runs: one short round, whose report goes to standard output")
	if err := flags.Parse(arguments); err != nil {
		return settings{}, err
	}
	switch {
	case flags.NArg() > 0:
		return settings{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case s.rounds < 1 || s.length <= 0:
		return settings{}, errors.New("-rounds and -length must be more than 0")
	case s.short:
		s.rounds, s.length, s.output = 1, time.Millisecond, ""
	case s.output == "" && s.only.String() == "":
		s.output = filepath.Join("..", "..", "docs", "benchmarks.md")
		if _, err := os.Stat(filepath.Dir(s.output)); err != nil {
			return settings{}, errors.New("run this in its own folder, as by go -C internal/benchmarks run . or name a file by -o")
		}
	}
	return s, nil
}

func run(ctx context.Context, arguments []string, in io.Reader, out, errs io.Writer) error {
	if len(arguments) == 1 {
		switch arguments[0] {
		case roleServer:
			return runServer(ctx, in, out)
		case roleWorker:
			return runWorker(ctx, in, out)
		}
	}
	s, err := parse(arguments, errs)
	if err != nil {
		return err
	}
	p := plan{
		works:        selected(contests(), func(w work) string { return w.name }, s.only),
		observations: selected(observations(), func(o observation) string { return o.name }, s.only),
		rounds:       s.rounds, length: s.length, short: s.short,
	}
	if len(p.works)+len(p.observations) == 0 {
		return fmt.Errorf("no work is named like %q", s.only)
	}
	errs = &shared{to: errs}
	others, err := startProcesses(ctx, errs)
	if err != nil {
		return err
	}
	began := time.Now()
	measured, err := p.run(ctx, func(ctx context.Context, t task) (result, error) { return others.do(ctx, t, errs) }, errs)
	if err = errors.Join(err, others.stop()); err != nil {
		return err
	}
	var page bytes.Buffer
	if err = writeReport(&page, report{
		plan: p, results: measured, machine: thisMachine(), versions: versions(), date: began, took: time.Since(began),
		folder: folderOf(s.output),
	}); err != nil {
		return err
	}
	if s.output == "" {
		_, err = page.WriteTo(out)
		return err
	}
	return os.WriteFile(s.output, page.Bytes(), 0o644)
}

// folderOf returns the folder of a file, or "" if there is none.
func folderOf(file string) string {
	if file == "" {
		return ""
	}
	return filepath.Dir(file)
}
