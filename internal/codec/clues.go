package codec

import (
	"iter"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// A clue is where a listing may say, in the objects around its rows, that it failed or is incomplete. The rows themselves say what became
// of messages, so a listing is not read at any depth, as the response to a send is.
type clue struct {
	slot   int
	reason string
	says   func(text string, v value) bool
	within []int // slots of the codes in an error: one of success means that it reports none
}

const (
	codeAround   = "the response holds an error code of a known class in the same object, or around it (errors.code, errors.classes)"
	errorAround  = "the response holds an error in the same object, or around it (errors.code)"
	statusAround = "the response holds a status in the same object, or around it, that says that the message failed (refused)"
	signAround   = "the response holds a sign of a failure, or that it is incomplete (errors, fault, success or partial)"
)

// compileClues returns the clues around each place. Lists are the paths of a response by concept: a place that the contract names for
// something else is no clue, and neither are those of responses.failure.
func (r *responses) compileClues(places []string, lists map[string][]string) (all [][]clue) {
	taken, holdsCode := map[string]bool{}, map[string]bool{}
	for concept, list := range lists {
		for _, path := range list {
			if taken[path] = true; concept != "status" {
				addAncestors(taken, path) // something else is within
			}
		}
	}
	for _, code := range r.errs.Code {
		taken[code] = true
		addAncestors(holdsCode, code)
	}
	for _, place := range places {
		all = append(all, r.cluesAround(place, lists["status"], taken, holdsCode))
	}
	return all
}

// addAncestors adds the objects and lists that a path leads through.
func addAncestors(to map[string]bool, path string) {
	for dot := strings.LastIndexByte(path, '.'); dot > 0; dot = strings.LastIndexByte(path[:dot], '.') {
		to[path[:dot]] = true
	}
}

// cluesAround returns the clues around a place: codes first, then errors, statuses and signs. A code or a word that nobody knows says
// nothing.
func (r *responses) cluesAround(place string, status []string, taken, holdsCode map[string]bool) []clue {
	var codes, errors, statuses, signs []clue
	add := func(to *[]clue, path, reason string, says func(string, value) bool, within ...int) {
		if !taken[path] {
			*to = append(*to, clue{slot: r.Add(path)[0], reason: reason, says: says, within: within})
		}
	}
	isError := func(text string, v value) bool { return !r.isNoError(text, v) }
	hasClass := func(text string, v value) bool {
		class, _ := r.meaning(strings.TrimSpace(v.Word(text)))
		return v.Kind != jsonscan.Boolean && class != ""
	}
	refuses := func(text string, v value) bool { return v.IsScalar() && r.words.refuses(v.Word(text)) }
	saysFalse := func(text string, v value) bool { return isFalse(v.Word(text)) }
	saysTrue := func(text string, v value) bool { return isTrue(v.Word(text)) }
	known := slices.Clone(r.errs.Code) // the paths of codes
	for object := range objectsAround(place) {
		for _, code := range r.errs.Code {
			path := join(object, beyond(place, code))
			known = append(known, path)
			add(&codes, path, codeAround, hasClass)
		}
		for _, code := range r.errs.Code {
			path := join(object, beyond(place, code))
			dot := strings.LastIndexByte(path, '.')
			if object == "" || dot <= len(object) {
				continue // errors of the document are those of responses.failure
			}
			isElsewhere := func(code string) bool { return !strings.HasPrefix(code, path[:dot+1]) }
			within := slices.DeleteFunc(slices.Clone(known), isElsewhere)
			add(&errors, path[:dot], errorAround, isError, r.Add(within...)...)
		}
		for _, path := range status {
			add(&statuses, join(object, beyond(place, path)), statusAround, refuses)
		}
		for name, says := range map[string]func(string, value) bool{
			"errors": isError, "fault": isError, "success": saysFalse, "partial": saysTrue,
		} {
			if path := join(object, name); !holdsCode[path] {
				add(&signs, path, signAround, says)
			}
		}
	}
	return slices.Concat(codes, errors, statuses, signs)
}

// trouble returns the first clue that says that something failed or is incomplete, or "".
func (r *responses) trouble(text string, found []value, clues []clue) string {
	for i := range clues {
		c := &clues[i]
		v := found[c.slot]
		if v.Kind > jsonscan.Null && c.says(text, v) && !r.anySuccess(text, found, c.within) {
			return c.reason
		}
	}
	return ""
}

// pathsBeside returns where the last name of paths may stand in the object that holds a place, without what the contract looks for there.
func pathsBeside(place string, paths []string, taken map[string]bool) (beside []string) {
	objects := slices.Collect(objectsAround(place))
	if len(objects) == 0 {
		return nil
	}
	for _, path := range paths {
		name := beyond(place, path)
		path = join(objects[0], name)
		if !strings.Contains(name, ".") && !taken[path] && !slices.Contains(beside, path) {
			beside = append(beside, path)
		}
	}
	return beside
}

// objectsAround yields the paths of the objects around a place, from the innermost one to the document. A list is none of them.
func objectsAround(place string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for place != "" {
			dot := strings.LastIndexByte(place, '.')
			name := place[dot+1:]
			place = place[:max(0, dot)]
			if !table.IsPosition(name) && !yield(place) {
				return
			}
		}
	}
}

// beyond returns what follows in a path behind the way that it shares with a place.
func beyond(place, path string) string {
	for {
		name, rest, nests := strings.Cut(path, ".")
		shared, within, _ := strings.Cut(place, ".")
		if !nests || name != shared {
			return path
		}
		path, place = rest, within
	}
}

// join returns the path within an object, or the document itself, as a path of the document.
func join(object, path string) string {
	if object == "" {
		return path
	}
	return object + "." + path
}
