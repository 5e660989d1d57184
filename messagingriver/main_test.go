package messagingriver_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// whole is for what takes long: kills for a minute, a campaign of 100,000 messages, a failover, half a minute of load, and every pool
// of package sqlstore.
var whole = flag.Bool("whole", false, "kill, send and load for as long as .ci/full does")

// The tests mostly wait, so many of them run at a time, however few processors there are. The test binary is also the program whose
// processes are killed.
func TestMain(m *testing.M) {
	if text := os.Getenv(programEnv); text != "" {
		if err := runProgram(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
