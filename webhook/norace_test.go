//go:build !race

package webhook_test

const costOfDetector = 1.0
