//go:build !race

package messagingriver_test

const isRace = false
