package sandbox

import (
	"strings"
	"unicode/utf8"
)

// bounds limits the memory of a sandbox.
type bounds struct {
	messages  int // messages and answers
	bytes     int // of messages and answers, with their webhook calls
	exchanges int
	traffic   int // bytes of exchanges
}

// Limits for single values, in bytes unless the comment says otherwise.
const (
	maxShown = 32 << 10 // a body in traffic
	maxRead  = 1 << 20  // a request body that the service reads; secrets in longer ones cannot be found
	maxURL   = 4 << 10  // a URL in traffic and calls
	maxValue = 4 << 10  // a header value
	maxLines = 100      // lines of a header
	maxLine  = 2 << 10  // a reason or an error
	maxName  = 256      // a name, a number or an ID
)

// defaultBounds returns the bounds of the default sandbox.
func defaultBounds() bounds {
	return bounds{messages: 10_000, bytes: 64 << 20, exchanges: 1000, traffic: 32 << 20}
}

// spaceBounds returns the bounds of a space.
func spaceBounds() bounds {
	return bounds{messages: 1000, bytes: 2 << 20, exchanges: 200, traffic: 1 << 20}
}

// clip returns at most n bytes of a text, and no part of a character at their end. It copies them, because a substring would keep the whole text in memory.
func clip(text string, n int) string {
	if len(text) > n {
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = strings.ToValidUTF8(text[:n], "")
	}
	return strings.Clone(text)
}

// shorten is like clip, with an ellipsis if the text is longer.
func shorten(text string, n int) string {
	if len(text) <= n {
		return clip(text, n)
	}
	return clip(text, n) + "…"
}
