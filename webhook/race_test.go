//go:build race

package webhook_test

// costOfDetector is by how much the race detector raises what a bound of memory counts.
const costOfDetector = 1.5
