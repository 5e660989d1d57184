package messagingriver_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// The tests mostly wait, so many of them run at a time, however few processors there are.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
