//go:build !race

package webhook_test

// mostCost is how many times as much four times the parameters may cost.
const mostCost = 6
