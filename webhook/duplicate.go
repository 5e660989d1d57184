package webhook

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// keyOf returns a duplicate key for an event: the callback, and a hash of what makes an event the same. The first part says
// what the others are.
func keyOf(callback Callback, parts ...string) string {
	b := make([]byte, 0, 512)
	for _, part := range parts {
		b = binary.AppendUvarint(b, uint64(len(part))) // so that no two lists of parts look the same
		b = append(b, part...)
	}
	sum := sha256.Sum256(b)
	return string(hex.AppendEncode(append(append(b[:0], callback...), '.'), sum[:16]))
}

// keyOfAll returns a duplicate key that covers everything an event arrived with.
func keyOfAll(callback Callback, params Params, json []byte) string {
	parts := make([]string, 0, 2+2*len(params))
	parts = append(parts, "all", string(json))
	for _, p := range params {
		parts = append(parts, p.Name, p.Value)
	}
	return keyOf(callback, parts...)
}

// isPrecise reports whether a time tells two events of a day apart. A time at second 0 may be one without seconds.
func isPrecise(at time.Time) bool { return at.Unix() > 0 && (at.Second() != 0 || at.Nanosecond() != 0) }
