package codec

import (
	"net/url"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Send is one operation that sends a message. It is safe for concurrent use.
type Send struct {
	requestFormat

	op            *table.Send
	fields        map[string]field    // by concept, of those that the service has
	constants     []member            // of every request
	textConstants map[string][]member // by the encoding that the text of an SMS takes
	wrap          string              // the name of a message in the shape of another platform; "" is the top level

	responses *messageFormat
	idFormats *idFormats // nil unless IDs may be found by their names
}

// field is a field of a request.
type field struct {
	name      string
	top       string // the member or parameter that holds it
	isPath    bool   // see member
	constants []member

	givesWay         bool // see table.Send.GivesWay
	constantsGiveWay bool // see table.Send.ConstantsGiveWay
}

// CompileSend compiles an operation of a valid table that sends to a URL. The pair is nil if requests carry no key pair.
func CompileSend(t *table.Table, op *table.Send, target *url.URL, pair KeyPair) *Send {
	s := &Send{
		requestFormat: newRequestFormat(t, &op.Operation, "POST", target, pair),
		op:            op,
		responses:     compileMessageFormat(t, op, sectionOf(t, op)),
	}
	s.ttl = op.TTL
	if op.Wrap != nil {
		s.wrap = *op.Wrap
	}
	s.compileFields()
	s.compileConstants()
	return s
}

// sectionOf returns the section of a table that holds an operation.
func sectionOf(t *table.Table, op *table.Send) string {
	for _, channel := range table.Channels() {
		if channel.Send(t) == op {
			return channel.SendSection()
		}
	}
	return ""
}

func (s *Send) compileFields() {
	s.fields = make(map[string]field, len(s.op.Fields))
	for concept, name := range s.op.Fields {
		if name == "" {
			continue
		}
		f := field{
			name:             name,
			top:              s.top(name),
			isPath:           strings.Contains(name, "."),
			constants:        s.compileMembers(s.op.FieldConstants[concept]),
			givesWay:         s.op.GivesWay(concept),
			constantsGiveWay: s.op.ConstantsGiveWay(concept),
		}
		if !f.constantsGiveWay {
			s.reserve(f.constants)
		}
		s.fields[concept] = f
	}
}

func (s *Send) compileConstants() {
	s.constants = s.compileMembers(s.op.Constants)
	s.reserve(s.constants)
	s.textConstants = map[string][]member{}
	for _, encoding := range []string{table.GSM, table.Unicode} {
		constants := s.compileMembers(s.op.FieldConstants[encoding])
		s.textConstants[encoding] = constants
		s.reserve(constants)
	}
}
