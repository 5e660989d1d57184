package codec

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// enclosing is what may say, in the objects around an ID or around rows, that something failed or is incomplete: the slots of codes, of
// errors, of statuses, and the signs of a failure. A place that the contract names for something else is not among them, and
// neither are those of responses.failure and of the status of a send.
type enclosing struct {
	codes, errors, statuses  []int
	present, isFalse, isTrue []int

	// references and recipients are those in the innermost object, where the contract does not look for them by itself.
	references, recipients []int
	// codesIn are the slots of the codes in each of errors: one of success acquits the object that it stands in.
	codesIn [][]int
}

// signsOfFailure are the names of members that say, in the objects around an ID or around rows, that something failed or is incomplete if
// they hold a value: anything, false or true.
var signsOfFailure = map[string]string{ //nolint:gochecknoglobals // never written
	"errors": "present", "fault": "present", "success": "false", "partial": "true",
}

// compileEnclosing adds what stands around places. Lists are the paths of a response by concept.
func (r *responses) compileEnclosing(places []string, lists map[string][]string) (all []enclosing) {
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
		a := r.compileEnclosingOne(place, lists["status"], taken, holdsCode)
		a.references = r.Add(pathsBeside(place, lists["reference"], taken)...)
		a.recipients = r.Add(pathsBeside(place, lists["to"], taken)...)
		all = append(all, a)
	}
	return all
}

// addAncestors adds the objects and lists that a path leads through.
func addAncestors(to map[string]bool, path string) {
	for dot := strings.LastIndexByte(path, '.'); dot > 0; dot = strings.LastIndexByte(path[:dot], '.') {
		to[path[:dot]] = true
	}
}

// compileEnclosingOne adds what stands around a place, without what the contract has taken for something else.
func (r *responses) compileEnclosingOne(place string, status []string, taken, holdsCode map[string]bool) enclosing {
	add := func(list []string, path string) []string {
		if taken[path] || slices.Contains(list, path) {
			return list
		}
		return append(list, path)
	}
	var codes, errors, statuses []string
	signs := map[string][]string{}
	for object := range objectsAround(place) {
		for _, code := range r.errs.Code {
			path := join(object, beyond(place, code))
			codes = add(codes, path)
			if dot := strings.LastIndexByte(path, '.'); dot > len(object) && object != "" {
				errors = add(errors, path[:dot])
			}
		}
		for _, path := range status {
			statuses = add(statuses, join(object, beyond(place, path)))
		}
		for name, value := range signsOfFailure {
			if path := join(object, name); !holdsCode[path] {
				signs[value] = add(signs[value], path)
			}
		}
	}
	a := enclosing{
		codes: r.Add(codes...), errors: r.Add(errors...), statuses: r.Add(statuses...),
		present: r.Add(signs["present"]...), isFalse: r.Add(signs["false"]...), isTrue: r.Add(signs["true"]...),
	}
	for _, object := range errors {
		isElsewhere := func(code string) bool { return !strings.HasPrefix(code, object+".") }
		a.codesIn = append(a.codesIn, r.Add(slices.DeleteFunc(slices.Concat(codes, r.errs.Code), isElsewhere)...))
	}
	return a
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

const (
	codeAround   = "the response holds an error code of a known class in the same object, or around it (errors.code, errors.classes)"
	errorAround  = "the response holds an error in the same object, or around it (errors.code)"
	statusAround = "the response holds a status in the same object, or around it, that says that the message failed (refused)"
	signAround   = "the response holds a sign of a failure, or that it is incomplete (errors, fault, success or partial)"
)

// trouble returns what says, in the objects around a place, that something failed or is incomplete, or "". Only what says so counts: a
// code or a word that nobody knows says nothing.
func (r *responses) trouble(text string, found []value, a *enclosing) string {
	anyOf := func(slots []int, says func(value) bool) bool {
		return slices.ContainsFunc(slots, func(slot int) bool { return found[slot].Kind > jsonscan.Null && says(found[slot]) })
	}
	hasClass := func(v value) bool {
		class, _ := r.meaning(strings.TrimSpace(v.Word(text)))
		return v.Kind != jsonscan.Boolean && class != ""
	}
	isError := func(v value) bool { return !r.isNoError(text, v) }
	hasError := false
	for i, slot := range a.errors {
		hasError = hasError || isError(found[slot]) && !r.anySuccess(text, found, a.codesIn[i])
	}
	switch {
	case anyOf(a.codes, hasClass):
		return codeAround
	case hasError:
		return errorAround
	case anyOf(a.statuses, func(v value) bool { return v.IsScalar() && r.words.refuses(v.Word(text)) }):
		return statusAround
	case anyOf(a.present, isError), anyOf(a.isFalse, func(v value) bool { return isFalse(v.Word(text)) }),
		anyOf(a.isTrue, func(v value) bool { return isTrue(v.Word(text)) }):
		return signAround
	}
	return ""
}

// isTrue and isFalse report whether a word says so, as services write it.
func isTrue(word string) bool { return isOne(word, "true", "1", "yes") }

func isFalse(word string) bool { return isOne(word, "false", "0", "no") }

func isOne(word string, words ...string) bool {
	return slices.Contains(words, strings.ToLower(strings.TrimSpace(word)))
}

// words are those which say that a message was not taken, or not delivered.
type words struct {
	accepted, refused []string
	undelivered       []string        // words of the delivery statuses failed, expired and rejected
	noIDs             map[string]bool // in lower case, what is no ID, and not a prefix
	noIDPrefixes      []string
}

func compileWords(t *table.Table, errs *table.Errors, accepted, refused []string) words {
	w := words{accepted: accepted, refused: refused, noIDs: map[string]bool{}}
	hasLetter := func(word string) bool { return strings.ContainsFunc(word, unicode.IsLetter) }
	add := func(word string) {
		if prefix, isPrefix := strings.CutSuffix(strings.ToLower(word), "*"); !isPrefix {
			w.noIDs[prefix] = true
		} else if prefix != "" {
			w.noIDPrefixes = append(w.noIDPrefixes, prefix)
		}
	}
	for status, all := range t.WebhookDelivery.Statuses {
		// A number may be a state of any kind.
		all = slices.DeleteFunc(slices.Clone(all), func(word string) bool { return !hasLetter(word) })
		if slices.Contains([]string{"failed", "expired", "rejected"}, status) {
			w.undelivered = append(w.undelivered, all...)
		}
		for _, word := range all {
			add(word)
		}
	}
	for _, word := range refused {
		add(word)
	}
	for _, word := range accepted {
		w.noIDs[strings.ToLower(word)] = true
	}
	for _, codes := range errs.Classes {
		for _, code := range codes {
			if hasLetter(code) {
				add(code)
			}
		}
	}
	return w
}

// refuses reports whether a word says that a message was not taken, or not delivered.
func (w *words) refuses(word string) bool {
	known := max(table.Match(w.accepted, word, true), 0)
	refused := max(table.Match(w.refused, word, true), table.Match(w.undelivered, word, true))
	return refused > known || known == 0 && strings.EqualFold(word, "false")
}

// isID reports whether a value can be the ID of a message.
func (w *words) isID(v value, word string) bool {
	word = strings.TrimSpace(word)
	switch {
	case !v.IsScalar() || v.Kind == jsonscan.Boolean || !isName(word):
		return false
	case table.IsCode(word):
	case table.IsPlaceholder(word) || strings.ContainsFunc(word, unicode.IsSpace):
		return false
	}
	word = strings.ToLower(word)
	isPrefix := func(prefix string) bool { return strings.HasPrefix(word, prefix) }
	return !w.noIDs[word] && !slices.ContainsFunc(w.noIDPrefixes, isPrefix)
}

// isName reports whether a text can name a message: at most 256 characters, none of them a control character, in valid UTF-8.
func isName(word string) bool {
	const longest = 256
	n := 0
	for _, r := range word {
		if n++; n > longest || unicode.IsControl(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}
