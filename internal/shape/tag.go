package shape

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// parseOptions returns a leaf with the encoding options of a field of type t, and its rules.
func parseOptions(name, options string, t reflect.Type) (value *leaf, rules []rule) {
	value = new(leaf)
	if options == "" {
		return value, nil
	}
	isString := t.Kind() == reflect.String
	for option := range strings.SplitSeq(options, ",") {
		key, text, _ := strings.Cut(option, "=")
		switch {
		case option == "text" && !isString:
			value.text = true
		case key == "default" && isString && text != "":
			value.preset = text
		case slices.Contains(rulesFor(t.Kind()), key):
			r, ok := parseRule(key, text)
			if !ok {
				panic("shape: " + name + " has a rule with a wrong value: " + option)
			}
			rules = append(rules, r)
		default:
			panic("shape: " + name + " has an option that is unknown, or not for its type: " + option)
		}
	}
	if len(rules) > 1 && !isString {
		panic("shape: " + name + " has several rules, which only a text can have")
	}
	return value, rules
}

// segment is the part of a path between two dots.
type segment struct {
	kind   segmentKind
	name   string   // of the member; "" for a choice
	words  string   // of the elements of a list
	choice []string // the members of a sealed interface
	always bool     // the member, or the element, is always written
}

type segmentKind int

const (
	ofMember  segmentKind = iota // name
	ofSingle                     // name[]: the only element of a list
	ofElement                    // name[words]: one element of a list
	ofEach                       // name[each words]: an element of a list for each of the value
	ofChoice                     // name&name: the members of a sealed interface
)

// parsePath parses a path, such as "type&action", "parameters[type=text]!.text" or "buttons[each type=reply].reply". With isAlways, the value
// and everything on the way to it are always written, as after an exclamation mark.
func parsePath(path string, isAlways bool) []segment {
	if path == "" {
		return nil
	}
	var segments []segment
	for text := range strings.SplitSeq(path, ".") {
		segments = append(segments, parseSegment(text))
	}
	for i, seg := range segments {
		isLast := i == len(segments)-1
		switch {
		case seg.kind == ofChoice && !isLast:
			panic("shape: a path must end with the members of a sealed interface: " + path)
		case seg.kind == ofSingle && !isLast:
			panic("shape: the only element of a list must be the value: " + path)
		case seg.kind == ofElement && isLast:
			panic("shape: an element with words needs a path to its value: " + path)
		}
	}
	for i, seg := range slices.Backward(segments) {
		if seg.kind == ofMember || seg.kind == ofElement {
			seg.always = seg.always || isAlways
		}
		isAlways = seg.always
		segments[i] = seg
	}
	return segments
}

func parseSegment(text string) segment {
	if strings.Contains(text, "&") {
		return segment{kind: ofChoice, choice: strings.Split(text, "&")}
	}
	var seg segment
	path, isAlways := strings.CutSuffix(text, "!")
	path, isClosed := strings.CutSuffix(path, "]")
	name, words, isOpen := strings.Cut(path, "[")
	if name == "" || isOpen != isClosed {
		panic("shape: want a name, or a name and a list in brackets, in place of " + strconv.Quote(text))
	}
	seg.name = name
	seg.always = isAlways
	if !isOpen {
		return seg
	}
	words, isEach := strings.CutPrefix(words, "each ")
	seg.words = words
	switch {
	case isEach:
		seg.kind = ofEach
	case words == "":
		seg.kind = ofSingle
	default:
		seg.kind = ofElement
	}
	return seg
}
