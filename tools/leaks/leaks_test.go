// Package leaks_test is added to the tests of each package by .ci/leaks, under that
// package's name. It is here so that tools/go.mod pins the version of goleak. In the
// root module, goleak would be in every user's module graph.
package leaks_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests of the package and then looks for goroutines that they left behind.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
