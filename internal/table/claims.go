package table

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A release may add a field, and so a name to the default table. It breaks no overlay, because such a name makes room:
//
//   - The names that an overlay sets are claimed, and so are those of the essential concepts, without which a request goes nowhere.
//   - A default name that collides with a claimed name is displaced: its concept then has no name.
//   - A default name that is neither claimed nor displaced gives way to the same name in a user's Extra, if the message leaves the field empty.

// displaceDefaults displaces the default names that collide with names of the overlay.
func (t *Table) displaceDefaults(defaults *Table) {
	for _, channel := range Channels() {
		channel.Send(t).displaceDefaults(channel.Send(defaults), t.Auth.KeyPair)
	}
	t.SMSList.displaceDefaults(&defaults.SMSList, t.Auth.KeyPair)
	defaultWebhooks := defaults.Webhooks()
	for name, webhook := range t.Webhooks() {
		webhook.displaceDefaults(defaultWebhooks[name])
	}
}

// essentialFields are the concepts without which a message goes nowhere, or says nothing.
var essentialFields = []string{"channel", "from", "to", "text"} //nolint:gochecknoglobals // never written

// displaceDefaults displaces default names of fields, and default constants.
func (s *Send) displaceDefaults(defaults *Send, pair KeyPair) {
	c := newClaims(&s.Operation, pair)
	if s.Wrap != nil && *s.Wrap != "" {
		c.add(*s.Wrap)
		c.hasOverlay = true
	}
	// All names are claimed before the first is displaced, because a default name can collide with any claim.
	s.claimConstants(c, defaults.FieldConstants)
	s.claimNames(c, s.Fields, defaults.Fields, essentialFields)
	s.displaceNames(c, s.Fields, essentialFields)
	for concept, constants := range s.FieldConstants {
		if s.ConstantsGiveWay(concept) {
			maps.DeleteFunc(constants, func(name string, _ any) bool { return c.displaces(name) })
		}
	}
}

func (l *List) displaceDefaults(defaults *List, pair KeyPair) {
	c := newClaims(&l.Operation, pair)
	essential := l.essentialParams()
	l.claimNames(c, l.Params, defaults.Params, essential)
	l.displaceNames(c, l.Params, essential)
}

// essentialParams returns the concept without which every request gets the first page.
func (l *List) essentialParams() []string { return []string{l.Paging.By} }

// displaceDefaults removes from each default list the names that a list of the overlay claims, except for its first name.
func (w Webhook) displaceDefaults(defaults Webhook) {
	isDefault := func(concept string) bool { return slices.Equal(w.Params[concept], defaults.Params[concept]) }
	claimed := map[string]bool{}
	for concept, list := range w.Params {
		if isDefault(concept) {
			continue
		}
		for _, name := range list {
			claimed[name] = true
		}
	}
	for concept, list := range w.Params {
		if len(list) > 1 && isDefault(concept) {
			isDisplaced := func(name string) bool { return claimed[name] && name != list[0] }
			w.Params[concept] = slices.DeleteFunc(slices.Clone(list), isDisplaced)
		}
	}
}

// claims are the claimed names of a request, and the objects and lists that hold them.
type claims struct {
	nests      bool // a dot nests
	names      map[string]bool
	parents    map[string]bool
	hasOverlay bool // the overlay sets some of the names
}

// newClaims returns the names of an operation's constants, and of a key pair if the request holds it.
func newClaims(o *Operation, pair KeyPair) *claims {
	c := &claims{
		nests:      o.Encoding == "json",
		names:      map[string]bool{},
		parents:    map[string]bool{},
		hasOverlay: len(o.Constants) > 0,
	}
	for name := range o.Constants {
		c.add(name)
	}
	if pair.IsInFields(o.Encoding) {
		c.add(pair.Key)
		c.add(pair.Secret)
	}
	return c
}

func (c *claims) add(name string) {
	c.names[name] = true
	if !c.nests {
		return
	}
	for parent := parentOf(name); parent != ""; parent = parentOf(parent) {
		c.parents[parent] = true
	}
}

// displaces reports whether the claims displace a default name. If the overlay sets names, they displace even a default name that collides with
// none, unless its object is the body or holds one of them.
func (c *claims) displaces(name string) bool {
	if c.names[name] || c.parents[name] {
		return true
	}
	parent := parentOf(name)
	isTopLevel := !c.nests || parent == ""
	if isTopLevel || !c.hasOverlay {
		return false
	}
	return !c.parents[parent] || c.hasElement(parent)
}

// hasElement reports whether a claimed name is in an element of the list at a path.
func (c *claims) hasElement(list string) bool {
	for name := range c.names {
		if isWithinElement(name, list) {
			return true
		}
	}
	return false
}

// parentOf returns the object or the list that holds a name, or "" at the top level.
func parentOf(name string) string { return name[:max(0, strings.LastIndexByte(name, '.'))] }

// claimNames adds the names by concept that the overlay sets, and those of the essential concepts.
func (o *Operation) claimNames(c *claims, names, defaults map[string]string, essential []string) {
	for concept, name := range sorted(names) {
		if name != defaults[concept] {
			o.claimed = append(o.claimed, concept)
			c.hasOverlay = true
		}
		if name != "" && o.isClaimed(concept, essential) {
			c.add(name)
		}
	}
}

// displaceNames empties the names by concept that the claims displace.
func (o *Operation) displaceNames(c *claims, names map[string]string, essential []string) {
	for concept, name := range names {
		if name == "" || o.isClaimed(concept, essential) || !c.displaces(name) {
			continue
		}
		if o.displaced == nil {
			o.displaced = map[string]string{}
		}
		o.displaced[concept] = name
		names[concept] = ""
	}
}

func (o *Operation) isClaimed(concept string, essential []string) bool {
	return slices.Contains(o.claimed, concept) || slices.Contains(essential, concept)
}

// claimConstants adds the constants of fields that the overlay sets.
func (s *Send) claimConstants(c *claims, defaults map[string]map[string]any) {
	for concept, constants := range sorted(s.FieldConstants) {
		if reflect.DeepEqual(constants, defaults[concept]) {
			continue
		}
		s.claimedConstants = append(s.claimedConstants, concept)
		c.hasOverlay = true
		for name := range constants {
			c.add(name)
		}
	}
}

// Displaced returns the default name of a concept, if it was displaced, or "".
func (o *Operation) Displaced(concept string) string { return o.displaced[concept] }

// GivesWay reports whether the name of a field gives way to the same name in a user's Extra, if the message leaves the field empty.
func (s *Send) GivesWay(concept string) bool { return !s.isClaimed(concept, essentialFields) }

// GivesWay reports whether the name of a parameter gives way to the same name in a user's Extra, if the options leave it out.
func (l *List) GivesWay(concept string) bool { return !l.isClaimed(concept, l.essentialParams()) }

// ConstantsGiveWay reports whether the constants of a field are defaults, so that they give way to a user's Extra.
func (s *Send) ConstantsGiveWay(concept string) bool {
	return !slices.Contains(s.claimedConstants, concept)
}
