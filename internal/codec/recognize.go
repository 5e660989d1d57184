package codec

import (
	"maps"
	"sync"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// idFinder compiles the operation for paths at which responses named messages, and keeps what it compiled.
type idFinder struct {
	compile func(path string) *Send

	mu    sync.Mutex
	sends map[string]*Send
}

// SeekIDs makes Recognize find IDs by their names. It must be called before the first use, and only if no overlay names response.id.
func (s *Send) SeekIDs(t *table.Table, pair KeyPair) {
	compile := func(path string) *Send {
		op := *s.op
		op.Response = maps.Clone(op.Response)
		op.Response["id"] = []string{path}
		other := CompileSend(t, &op, s.url, pair)
		other.section = s.section
		return other
	}
	s.idFinder = &idFinder{compile: compile, sends: map[string]*Send{}}
}

// at returns the operation for a path, or nil if there is no path or responses have named too many.
func (f *idFinder) at(path string) *Send {
	const maxPaths = 16
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sends[path] == nil && path != "" && len(f.sends) < maxPaths {
		f.sends[path] = f.compile(path)
	}
	return f.sends[path]
}

// Recognize is Decode for a response whose HTTP status is a success. If the contract has only its default paths of an ID and the response
// has nothing there, Recognize finds an ID by its name, and reads the response as if the contract named that path.
func (s *Send) Recognize(body []byte, to string) (Response, error) {
	m, err := s.decode(body)
	if err != nil || s.idFinder == nil || m.Claim != NamesNone || m.hasIDPlace {
		return m.Response, err
	}
	path := s.pathOfID(body, to)
	other := s.idFinder.at(path)
	if other == nil {
		return m.Response, nil
	}
	recognized, err := other.Decode(body)
	recognized.FoundAt = path
	return recognized, err
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
