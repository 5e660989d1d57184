package codec

import (
	"slices"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// pageCursor is what a response says about the page after it.
type pageCursor struct {
	next string // or ""
	sign nextSign
}

// nextSign is how a response says whether more rows follow.
type nextSign uint8

const (
	signNone   nextSign = iota
	signFlag            // a flag says that more follow
	signCursor          // there is no flag, and a cursor of the next page
	signEnd             // a flag, or null in place of the cursor, says that none follow
)

// promisesMore reports whether the response says that more rows follow.
func (c pageCursor) promisesMore() bool { return c.sign == signFlag || c.sign == signCursor }

// readCursor reads the cursor, and whether more rows follow: a flag decides, or else a cursor or a null in its place.
func (l *List) readCursor(d *document) pageCursor {
	slots := l.responses.slots["next"]
	isFlag := func(slot int) bool { return d.values[slot].Kind == jsonscan.Boolean }
	isNull := func(slot int) bool { return d.values[slot].Kind == jsonscan.Null }
	next := d.first(slices.DeleteFunc(slices.Clone(slots), isFlag))
	c := pageCursor{next: next}
	flag := l.word(d, "hasNext")
	switch {
	case isTrue(flag):
		c.sign = signFlag
	case isFalse(flag):
		c.sign = signEnd
	case !table.IsPlaceholder(next):
		c.sign = signCursor
	case next == "" && slices.ContainsFunc(slots, isNull):
		c.sign = signEnd
	}
	return c
}
