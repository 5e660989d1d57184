package codec

import (
	"bytes"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// rowCache remembers what the rows of one page have in common, so that a row like the row before it is cheap. It changes no result.
type rowCache struct {
	names    [64]*memberName            // by the index of a member in its row, the name that it last had
	statuses map[string]contract.Status // by word, its meaning
}

// memberName is the name of a member of a row, and what the contract reads there.
type memberName struct {
	text    string
	written []byte // as it is in the document, with the colon
	node    *jsonscan.Node
	kind    nameKind // if the contract does not read the member
}

// readName reads the name of the i-th member of a row. It only compares a name that it knows.
func (c *rowCache) readName(w *jsonscan.Walker, i int, format *rowFormat) *memberName {
	if i >= len(c.names) {
		return parseName(w, format)
	}
	w.Peek()
	known := c.names[i]
	if known != nil && bytes.HasPrefix(w.Doc[w.Pos:], known.written) {
		w.Pos += len(known.written)
		return known
	}
	c.names[i] = parseName(w, format)
	return c.names[i]
}

// parseName reads the name of a member.
func parseName(w *jsonscan.Walker, format *rowFormat) *memberName {
	w.Peek()
	start := w.Pos
	text := w.Name()
	name := &memberName{text: string(text), written: w.Doc[start:w.Pos], node: format.paths.Root.Child(text)}
	if name.node == jsonscan.Unknown {
		name.kind = kindOf(text)
	}
	return name
}

// status returns the meaning of a delivery status.
func (c *rowCache) status(word string, format *rowFormat) contract.Status {
	if word == "" {
		return contract.StatusUnknown
	}
	status, isKnown := c.statuses[word]
	if !isKnown {
		status = format.status(word)
		c.statuses[word] = status
	}
	return status
}
