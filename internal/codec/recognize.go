package codec

import (
	"maps"
	"sync"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// idFormats holds the formats of responses that have their ID at another path than the contract says. A format is compiled when a response
// first has an ID at its path.
type idFormats struct {
	compile func(path string) *messageFormat

	mu      sync.Mutex
	byPath  map[string]*messageFormat // at most maxFormats
	hasMany bool                      // there have been more
}

// maxFormats is how many formats are kept.
const maxFormats = 16

// SeekIDs makes Recognize find IDs by their names. It must be called before the first use, and only if the contract has just the
// default paths of response.id.
func (s *Send) SeekIDs(t *table.Table) {
	compile := func(path string) *messageFormat {
		op := *s.op
		op.Response = maps.Clone(op.Response)
		op.Response["id"] = []string{path}
		return compileMessageFormat(t, &op, s.responses.section)
	}
	s.idFormats = &idFormats{compile: compile, byPath: map[string]*messageFormat{}}
}

// at returns the format for a path, and reports whether responses have had more paths than are kept, such as one for each recipient. The formats of
// earlier paths are then dropped.
func (f *idFormats) at(path string) (format *messageFormat, hasMany bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byPath[path] == nil {
		if len(f.byPath) == maxFormats {
			f.byPath = map[string]*messageFormat{}
			f.hasMany = true
		}
		f.byPath[path] = f.compile(path)
	}
	return f.byPath[path], f.hasMany
}

// Recognize is Decode for a response whose HTTP status is a success. If the contract has only its default paths of an ID and the response
// has nothing there, Recognize finds an ID by its name, and reads the response as if the contract named that path.
func (s *Send) Recognize(body []byte, to string) (Response, error) {
	m, err := s.responses.decode(body)
	isUnnamed := err == nil && m.Claim == NamesNone && !m.hasIDValue
	if !isUnnamed || s.idFormats == nil {
		return m.Response, err
	}
	path := s.pathOfID(body, to)
	if path == "" {
		return m.Response, nil
	}
	format, hasMany := s.idFormats.at(path)
	m, err = format.decode(body)
	if !hasMany {
		m.FoundAt = path
	}
	return m.Response, err
}

// pathOfID returns the path of the ID that a response has by its name. Several must have one path, or the same ID. Otherwise it returns "".
func (s *Send) pathOfID(body []byte, to string) string {
	doc := WithoutMark(body)
	ids, _ := s.responses.scanForIDs(doc, to)
	if len(ids) == 0 {
		return ""
	}
	for _, other := range ids[1:] {
		isSame := other.id == ids[0].id || other.path == ids[0].path
		if !isSame {
			return ""
		}
	}
	return ids[0].path
}

// Names reports whether a response has the ID of a message by its name, and whether it has the ID of anything other than a request. An ID
// inside an error belongs to the error, and counts only for hasAnyID.
func (s *Send) Names(body []byte, to string) (hasMessageID, hasAnyID bool) {
	doc := WithoutMark(body)
	if jsonscan.Check(doc) != nil {
		return false, false
	}
	ids, hasAnyID := s.responses.scanForIDs(doc, to)
	return len(ids) > 0, hasAnyID
}
