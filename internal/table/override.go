package table

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A release may add a field, and so a name to the default table. To keep old overlays working, a default name is dropped if it collides
// with a name of the overlay. It also gives way to a name in a user's Extra, if the message leaves the field empty.

// requestNames are the names of a request with which a default name must not collide, and the objects and lists that hold them.
type requestNames struct {
	nests    bool // a dot nests
	names    map[string]bool
	parents  map[string]bool
	isCustom bool // the overlay sets some of the names
}

func newRequestNames(encoding string) *requestNames {
	return &requestNames{nests: encoding == "json", names: map[string]bool{}, parents: map[string]bool{}}
}

func (n *requestNames) add(name string) {
	n.names[name] = true
	if !n.nests {
		return
	}
	for parent := parentOf(name); parent != ""; parent = parentOf(parent) {
		n.parents[parent] = true
	}
}

// addPair adds the names of a key pair, if it is among the fields or parameters of a request.
func (n *requestNames) addPair(pair KeyPair, encoding string) {
	if pair.IsInFields(encoding) {
		n.add(pair.Key)
		n.add(pair.Secret)
	}
}

// fits reports whether a default name can be added without a collision. If the overlay sets names, the object of the default name must be
// the body, or an object that those names use.
func (n *requestNames) fits(name string) bool {
	if n.names[name] || n.parents[name] {
		return false
	}
	parent := parentOf(name)
	isTopLevel := !n.nests || parent == ""
	if isTopLevel || !n.isCustom {
		return true
	}
	return n.parents[parent] && !n.isList(parent)
}

// isList reports whether a name has a position right after a parent.
func (n *requestNames) isList(parent string) bool {
	for name := range n.names {
		rest, isWithin := strings.CutPrefix(name, parent+".")
		first, _, _ := strings.Cut(rest, ".")
		if isWithin && IsPosition(first) {
			return true
		}
	}
	return false
}

// parentOf returns the object or the list that holds a name, or "" at the top level.
func parentOf(name string) string { return name[:max(0, strings.LastIndexByte(name, '.'))] }

// takeNames adds the names that the overlay sets, and the needed names, to the taken names. It returns the concepts of both, whose names are kept.
func (o *Operation) takeNames(taken *requestNames, names, defaults map[string]string, needed ...string) (kept []string) {
	o.claimed = claimedBy(names, defaults)
	taken.isCustom = taken.isCustom || len(o.claimed) > 0 || len(o.Constants) > 0
	kept = slices.Concat(o.claimed, needed)
	for _, concept := range kept {
		if names[concept] != "" {
			taken.add(names[concept])
		}
	}
	return kept
}

// dropNames empties the default names by concept that collide with taken names. It empties no name of a kept concept.
func (o *Operation) dropNames(taken *requestNames, names map[string]string, kept []string) {
	o.displaced = displacedBy(taken, names, kept)
	for concept := range o.displaced {
		names[concept] = ""
	}
}

// claimedBy returns the sorted concepts whose names an overlay sets.
func claimedBy(overlay, defaults map[string]string) (concepts []string) {
	for concept, name := range sorted(overlay) {
		if name != defaults[concept] {
			concepts = append(concepts, concept)
		}
	}
	return concepts
}

// displacedBy returns the names by concept that collide with taken names, or nil. The names of some concepts are kept.
func displacedBy(taken *requestNames, names map[string]string, kept []string) (displaced map[string]string) {
	for concept, name := range names {
		isKept := name == "" || slices.Contains(kept, concept)
		if isKept || taken.fits(name) {
			continue
		}
		if displaced == nil {
			displaced = map[string]string{}
		}
		displaced[concept] = name
	}
	return displaced
}

// Displaced returns the default name of a concept, if it was dropped because it collides with the overlay, or "".
func (o *Operation) Displaced(concept string) string { return o.displaced[concept] }

// neededFields are the fields without which a message goes nowhere, or says nothing.
var neededFields = []string{"channel", "from", "to", "text"} //nolint:gochecknoglobals // never written

// GivesWay reports whether the name of a field gives way to the same name in a user's Extra, if the message leaves the field empty.
func (s *Send) GivesWay(concept string) bool {
	return !slices.Contains(s.claimed, concept) && !slices.Contains(neededFields, concept)
}

// ConstantsGiveWay reports whether the constants of a field are defaults, so that they give way to a user's Extra.
func (s *Send) ConstantsGiveWay(concept string) bool {
	return !slices.Contains(s.claimedConstants, concept)
}

// dropCollisions drops the default names and constants that collide with the overlay.
func (s *Send) dropCollisions(defaults *Send, pair KeyPair) {
	taken := newRequestNames(s.Encoding)
	taken.addPair(pair, s.Encoding)
	if s.Wrap != nil && *s.Wrap != "" {
		taken.add(*s.Wrap)
		taken.isCustom = true
	}
	for name := range s.Constants {
		taken.add(name)
	}
	for concept, constants := range sorted(s.FieldConstants) {
		if reflect.DeepEqual(constants, defaults.FieldConstants[concept]) {
			continue
		}
		taken.isCustom = true
		s.claimedConstants = append(s.claimedConstants, concept)
		for name := range constants {
			taken.add(name)
		}
	}
	kept := s.takeNames(taken, s.Fields, defaults.Fields, neededFields...)
	s.dropNames(taken, s.Fields, kept)
	for concept, constants := range s.FieldConstants {
		if s.ConstantsGiveWay(concept) {
			maps.DeleteFunc(constants, func(name string, _ any) bool { return !taken.fits(name) })
		}
	}
}

// GivesWay reports whether the name of a parameter gives way to the same name in a user's Extra, if the options leave it out.
func (l *List) GivesWay(concept string) bool {
	return !slices.Contains(l.claimed, concept) && concept != l.Paging.By
}

// dropCollisions drops the default names that collide with the overlay.
func (l *List) dropCollisions(defaults *List, pair KeyPair) {
	taken := newRequestNames(l.Encoding)
	taken.addPair(pair, l.Encoding)
	for name := range l.Constants {
		taken.add(name)
	}
	kept := l.takeNames(taken, l.Params, defaults.Params, l.Paging.By)
	l.dropNames(taken, l.Params, kept)
}
