package messagingriver_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// whole is for what takes long: kills and freezes for minutes, and campaigns of 10,000 messages.
var whole = flag.Bool("whole", false, "kill, send and load for as long as .ci/full does")

// parallel is how many tests run at a time, regardless of the number of processors: the tests mostly wait. With -whole and under the race
// detector they compute more.
const (
	parallel     = "16"
	parallelSlow = "4"
)

// The test binary is also the program whose processes are killed.
func TestMain(m *testing.M) {
	if text := os.Getenv(programEnv); text != "" {
		if err := runProgram(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	atATime := parallel
	if isSlow() {
		atATime = parallelSlow
	}
	if err := flag.Set("test.parallel", atATime); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// isSlow reports whether only a few tests run at a time.
func isSlow() bool { return *whole || isRace }
