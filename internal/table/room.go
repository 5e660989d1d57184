package table

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A release may add a field, and so a name to the default table. That must break no overlay: a name that only the default has gives way to
// names of the overlay, and to those of a user's Extra if the message leaves the field empty.

// names are the names of a request that do not give way, and the objects and lists that they lead through.
type names struct {
	nests  bool
	whole  map[string]bool
	around map[string]bool

	isReshaped bool // some are the overlay's
}

func newNames(encoding string) *names {
	return &names{nests: encoding == "json", whole: map[string]bool{}, around: map[string]bool{}}
}

func (n *names) add(name string) {
	n.whole[name] = true
	for dot := strings.LastIndexByte(name, '.'); n.nests && dot > 0; dot = strings.LastIndexByte(name[:dot], '.') {
		n.around[name[:dot]] = true
	}
}

// hasRoom reports whether a name of the default can stand beside those: none of them has its place, and the object that it is in is the
// body, or one that they are in.
func (n *names) hasRoom(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	if !n.nests || dot < 0 {
		return !n.whole[name] && !n.around[name]
	}
	isElement := func(other string) bool {
		rest, isWithin := strings.CutPrefix(other, name[:dot+1])
		first, _, _ := strings.Cut(rest, ".")
		return isWithin && IsPosition(first)
	}
	isInList := slices.ContainsFunc(slices.Collect(maps.Keys(n.whole)), isElement)
	isInObject := !n.isReshaped || n.around[name[:dot]] && !isInList
	return !n.whole[name] && !n.around[name] && isInObject
}

// addPair adds the names of a key pair, if it stands beside the parameters of a request.
func (n *names) addPair(pair KeyPair, encoding string) {
	if pair.In == "body" || pair.In == "query" && encoding == "query" {
		n.add(pair.Key)
		n.add(pair.Secret)
	}
}

// giveWay sets which of the names by concept are the overlay's, and takes away those of the default for which they leave no room.
func (o *Operation) giveWay(byConcept, defaults map[string]string, taken *names, needed ...string) {
	for concept, name := range byConcept {
		if name != defaults[concept] {
			o.claimed = append(o.claimed, concept)
		}
		if name != "" && (name != defaults[concept] || slices.Contains(needed, concept)) {
			taken.add(name)
		}
	}
	slices.Sort(o.claimed)
	taken.isReshaped = taken.isReshaped || len(o.claimed)+len(o.Constants) > 0
	for concept, name := range byConcept {
		if name != "" && name == defaults[concept] && !slices.Contains(needed, concept) && !taken.hasRoom(name) {
			byConcept[concept] = ""
			if o.displaced == nil {
				o.displaced = map[string]string{}
			}
			o.displaced[concept] = name
		}
	}
}

// Displaced returns the name that the default table has for a concept, if the overlay leaves no room for it, or "".
func (o *Operation) Displaced(concept string) string { return o.displaced[concept] }

// neededFields are those without which a message goes nowhere, or says nothing.
var neededFields = []string{"channel", "from", "to", "text"} //nolint:gochecknoglobals // never written

// GivesWay reports whether the name of a field yields to a user's own field of that name, if the message leaves the field empty.
func (s *Send) GivesWay(concept string) bool {
	return !slices.Contains(s.claimed, concept) && !slices.Contains(neededFields, concept)
}

// ConstantsGiveWay reports whether the constants that go with a field are the default's, so that they yield to a user's own fields.
func (s *Send) ConstantsGiveWay(concept string) bool {
	return !slices.Contains(s.claimedConstants, concept)
}

func (s *Send) giveWay(defaults *Send, pair KeyPair) {
	taken := newNames(s.Encoding)
	taken.addPair(pair, s.Encoding)
	if s.Wrap != nil && *s.Wrap != "" {
		taken.add(*s.Wrap)
		taken.isReshaped = true
	}
	for name := range s.Constants {
		taken.add(name)
	}
	for concept, constants := range sorted(s.FieldConstants) {
		if reflect.DeepEqual(constants, defaults.FieldConstants[concept]) {
			continue
		}
		taken.isReshaped = true
		s.claimedConstants = append(s.claimedConstants, concept)
		for name := range constants {
			taken.add(name)
		}
	}
	s.Operation.giveWay(s.Fields, defaults.Fields, taken, neededFields...)
	for concept, constants := range s.FieldConstants {
		if s.ConstantsGiveWay(concept) {
			maps.DeleteFunc(constants, func(name string, _ any) bool { return !taken.hasRoom(name) })
		}
	}
}

// GivesWay reports whether the name of a parameter yields to a user's own parameter of that name, if the options leave it out.
func (l *List) GivesWay(concept string) bool {
	return !slices.Contains(l.claimed, concept) && concept != l.Paging.By
}

func (l *List) giveWay(defaults *List, pair KeyPair) {
	taken := newNames(l.Encoding)
	taken.addPair(pair, l.Encoding)
	for name := range l.Constants {
		taken.add(name)
	}
	l.Operation.giveWay(l.Params, defaults.Params, taken, l.Paging.By)
}
