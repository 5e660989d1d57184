package sandbox

import (
	"strings"
	"unicode/utf8"
)

// bounds limit what a sandbox keeps.
type bounds struct {
	messages  int // messages and answers
	bytes     int // of them, callback calls included
	exchanges int
	traffic   int // bytes of the exchanges
}

// Bounds on one part of what is kept or read.
const (
	maxShown = 32 << 10 // of a body, that traffic keeps
	maxRead  = 1 << 20  // of the body of a request, that the service reads: without the end of it, its secrets could not be found
	maxURL   = 4 << 10  // of a URL, that traffic and calls keep
	maxValue = 4 << 10  // of the value of a header
	maxLines = 100      // of a header
	maxLine  = 2 << 10  // of a reason or an error
	maxName  = 256      // of a name, a number or an ID
)

// defaultBounds are those of the sandbox.
func defaultBounds() bounds {
	return bounds{messages: 10_000, bytes: 64 << 20, exchanges: 1000, traffic: 32 << 20}
}

// spaceBounds are those of each space for a test.
func spaceBounds() bounds {
	return bounds{messages: 1000, bytes: 2 << 20, exchanges: 200, traffic: 1 << 20}
}

// clip returns a copy of at most n bytes of a text, in valid UTF-8. A part of a text would keep the whole of it in memory.
func clip(text string, n int) string {
	if len(text) > n {
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = strings.ToValidUTF8(text[:n], "")
	}
	return strings.Clone(text)
}

// shorten is like clip, and says that something is missing.
func shorten(text string, n int) string {
	if len(text) <= n {
		return clip(text, n)
	}
	return clip(text, n) + "…"
}
