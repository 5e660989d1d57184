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

// The bounds of the sandbox, and of each space for a test.
const (
	MaxMessages   = 10_000
	maxBytes      = 64 << 20
	maxExchanges  = 1000
	maxTraffic    = 32 << 20
	spaceMessages = 1000
	spaceBytes    = 2 << 20
	spaceTraffic  = 1 << 20
	spaceExchange = 200
)

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

func defaultBounds() bounds { return bounds{MaxMessages, maxBytes, maxExchanges, maxTraffic} }

func spaceBounds() bounds { return bounds{spaceMessages, spaceBytes, spaceExchange, spaceTraffic} }

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
