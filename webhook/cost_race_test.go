//go:build race

package webhook_test

// mostCost is higher under the race detector, whose own work grows with the memory that is touched.
const mostCost = 10
