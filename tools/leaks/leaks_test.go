// Package leaks_test is what .ci/leaks adds to the tests of each package, under
// that package's name. It stands here so that tools/go.mod holds goleak's version:
// in the root module it would be in every user's graph.
package leaks_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the package's tests, then looks for goroutines that they left.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
