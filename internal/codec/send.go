package codec

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Send is one operation that sends a message. It is safe for concurrent use.
type Send struct {
	encoding

	op                *table.Send
	section           string              // of the contract
	fields            map[string]field    // by concept, of those that the service has
	constants         []member            // of every request
	encodingConstants map[string][]member // of a text that takes an encoding
	wrap              string              // the name of a message in the shape of another platform; "" is the top level

	responses responses
	slots     responseSlots
	lists     []*messageList // the outermost ones
	adjacent  []adjacent     // for each path of the ID or, if the contract has no IDs, of the status
	buffers   *sync.Pool     // of the values in a response
	idFinder  *idFinder      // nil unless IDs may be found by their names
}

// responseSlots are the slots of what a response to a send says.
type responseSlots struct {
	id, request, reference, recipient, status, parts, operator []int
	unitCost, cost, balance, currency                          []int
}

// adjacent holds the slots of references and recipients in the object that names the message, where the contract does not look for them.
type adjacent struct{ references, recipients []int }

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
		encoding: newEncoding(t, &op.Operation, "POST", target, pair),
		op:       op,
		section:  sectionOf(t, op),
		buffers:  new(sync.Pool),
	}
	s.ttl = op.TTL
	if op.Wrap != nil {
		s.wrap = *op.Wrap
	}
	s.compileFields()
	s.compileConstants()
	s.compileResponses(t)
	s.compileLists()
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
			name: name, top: s.top(name), isPath: strings.Contains(name, "."),
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
	s.encodingConstants = map[string][]member{}
	for _, encoding := range []string{table.GSM, table.Unicode} {
		constants := s.compileMembers(s.op.FieldConstants[encoding])
		s.encodingConstants[encoding] = constants
		s.reserve(constants)
	}
}

// compileResponses compiles the paths of a response.
func (s *Send) compileResponses(t *table.Table) {
	lists := s.op.Paths()
	lists["to"] = recipientNames(s.op.Fields["to"], t.SMSList.Record["to"])
	known := compileVocabulary(t, s.op.Accepted, s.op.Refused)
	s.responses = compileResponses(lists, nil, nil, known, &t.Errors)
	slots := s.responses.slots
	s.slots = responseSlots{
		id:        slots["id"],
		request:   slots["request"],
		reference: slots["reference"],
		recipient: slots["to"],
		status:    slots["status"],
		parts:     slots["parts"],
		operator:  slots["operator"],
		unitCost:  slots["unitCost"],
		cost:      slots["cost"],
		balance:   slots["balance"],
		currency:  slots["currency"],
	}
	reserved := map[string]bool{}
	for _, paths := range lists {
		addAll(reserved, paths)
	}
	addAll(reserved, t.Errors.Code)
	places := lists["id"]
	if len(places) == 0 {
		places = lists["status"]
	}
	for _, place := range places {
		s.adjacent = append(s.adjacent, adjacent{
			references: s.responses.Add(adjacentPaths(place, lists["reference"], reserved)...),
			recipients: s.responses.Add(adjacentPaths(place, lists["to"], reserved)...),
		})
	}
}

// recipientNames returns the names under which a response may repeat the recipient: those of the request and of a listed row.
func recipientNames(field string, listed []string) (names []string) {
	for _, path := range append([]string{field}, listed...) {
		parts := slices.DeleteFunc(strings.Split(path, "."), table.IsPosition)
		if len(parts) == 0 {
			continue
		}
		name := parts[len(parts)-1]
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
