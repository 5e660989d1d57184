package webhook

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// identity is what makes an event the same when it arrives again.
type identity struct {
	callback Callback
	certain  bool     // the event names itself, see "Duplicates" in the package documentation: no other parameters count
	known    []string // what the contract knows of the event
	json     []byte   // the event, if it arrived as JSON
	params   Params
}

// key returns a duplicate key: the callback, and a hash.
func (i identity) key() string {
	b := make([]byte, 0, 512)
	add := func(part string) {
		b = binary.AppendUvarint(b, uint64(len(part))) // so that no two lists of parts look the same
		b = append(b, part...)
	}
	if i.certain {
		add("known")
	}
	for _, value := range i.known {
		add(value)
	}
	b = binary.AppendUvarint(b, uint64(len(i.json)))
	b = append(b, i.json...)
	if !i.certain {
		for _, p := range i.params {
			add(p.Name)
			add(p.Value)
		}
	}
	sum := sha256.Sum256(b)
	return string(hex.AppendEncode(append(append(b[:0], i.callback...), '.'), sum[:16]))
}

// isPrecise reports whether a time tells two events of a day apart. A time at second 0 may be one without seconds.
func isPrecise(at time.Time) bool { return at.Unix() > 0 && (at.Second() != 0 || at.Nanosecond() != 0) }
