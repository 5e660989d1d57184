//go:build race

package sms

// raced says that the race detector is on, which is slow and keeps books of its own.
const raced = true
