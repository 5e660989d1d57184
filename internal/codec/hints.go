package codec

import (
	"iter"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// A failureHint is a place outside the rows of a listing where the response may report that it failed or is incomplete. The rows describe
// messages, which may have failed. So a listing is not scanned at any depth, as the response to a send is.
type failureHint struct {
	slot    int
	reason  string
	reports func(r *responses, d *document, slot int) bool
	codes   []int // slots of the codes in an error: a success code means that it reports no error
}

// signs are members by which services commonly report that a listing failed or is incomplete.
var signs = []struct { //nolint:gochecknoglobals // never written
	name    string
	reports func(r *responses, d *document, slot int) bool
}{
	{"errors", (*responses).holdsError},
	{"fault", (*responses).holdsError},
	{"success", (*responses).holdsFalse},
	{"partial", (*responses).holdsTrue},
}

const (
	codeAround   = "the response holds an error code of a known class in the same object, or around it (errors.code, errors.classes)"
	errorAround  = "the response holds an error in the same object, or around it (errors.code)"
	statusAround = "the response holds a status in the same object, or around it, that says that the message failed (refused)"
	signAround   = "the response holds a sign of a failure, or that it is incomplete (errors, fault, success or partial)"
)

// compileHints returns the hints around each place. Lists are the paths of a response by concept. A place that the contract reads for
// something else is no hint, and neither is a place that responses.failure reads.
func (r *responses) compileHints(places []string, lists map[string][]string) (all [][]failureHint) {
	reserved := map[string]bool{}
	for concept, list := range lists {
		for _, path := range list {
			reserved[path] = true
			if concept != "status" {
				addAll(reserved, pathsAround(path))
			}
		}
	}
	holdsCode := map[string]bool{}
	for _, path := range r.errors.Code {
		reserved[path] = true
		addAll(holdsCode, pathsAround(path))
	}
	for _, place := range places {
		h := hintsAround{responses: r, place: place, reserved: reserved, holdsCode: holdsCode}
		for object := range objectsAround(place) {
			h.addObject(object, lists["status"])
		}
		all = append(all, slices.Concat(h.codes, h.errors, h.statuses, h.signs))
	}
	return all
}

func addAll(to map[string]bool, paths []string) {
	for _, path := range paths {
		to[path] = true
	}
}

// hintsAround collects the hints around a place by their kind. Unknown codes and words say nothing.
type hintsAround struct {
	responses *responses
	place     string
	reserved  map[string]bool // paths that are no hints
	holdsCode map[string]bool // the objects and lists around the contract's error codes
	codePaths []string        // so far

	codes, errors, statuses, signs []failureHint
}

// addObject adds the hints in an object around the place.
func (h *hintsAround) addObject(object string, statusPaths []string) {
	var codes []string
	for _, code := range h.responses.errors.Code {
		codes = append(codes, join(object, beyond(h.place, code)))
	}
	h.codePaths = append(h.codePaths, codes...)
	for _, path := range codes {
		h.add(&h.codes, failureHint{reason: codeAround, reports: (*responses).hasClass}, path)
	}
	for _, path := range codes {
		parent := parentOf(path)
		isInObject := object != "" && len(parent) > len(object) // responses.failure reads the errors of the document
		if isInObject {
			h.add(&h.errors, failureHint{reason: errorAround, reports: (*responses).holdsError, codes: h.codesIn(parent)}, parent)
		}
	}
	for _, path := range statusPaths {
		h.add(&h.statuses, failureHint{reason: statusAround, reports: (*responses).holdsRefusal}, join(object, beyond(h.place, path)))
	}
	for _, sign := range signs {
		if path := join(object, sign.name); !h.holdsCode[path] {
			h.add(&h.signs, failureHint{reason: signAround, reports: sign.reports}, path)
		}
	}
}

func (h *hintsAround) add(to *[]failureHint, hint failureHint, path string) {
	if h.reserved[path] {
		return
	}
	hint.slot = h.responses.Add(path)[0]
	*to = append(*to, hint)
}

// codesIn returns the slots of the codes in an error, of those known so far and of the contract.
func (h *hintsAround) codesIn(object string) []int {
	isElsewhere := func(path string) bool { return !strings.HasPrefix(path, object+".") }
	known := slices.Concat(h.responses.errors.Code, h.codePaths)
	return h.responses.Add(slices.DeleteFunc(known, isElsewhere)...)
}

func (r *responses) holdsError(d *document, slot int) bool { return !r.isNoError(d, slot) }

func (r *responses) holdsFalse(d *document, slot int) bool { return isFalse(d.word(slot)) }

func (r *responses) holdsTrue(d *document, slot int) bool { return isTrue(d.word(slot)) }

func (r *responses) hasClass(d *document, slot int) bool {
	class, _ := r.meaning(strings.TrimSpace(d.word(slot)))
	return d.values[slot].Kind != jsonscan.Boolean && class != ""
}

func (r *responses) holdsRefusal(d *document, slot int) bool {
	return d.values[slot].IsScalar() && r.vocabulary.refuses(d.word(slot))
}

// failureAround returns why the hints of a place report a failure, or "".
func (r *responses) failureAround(d *document, hints []failureHint) string {
	isSuccess := func(slot int) bool { return r.isSuccessCode(d, slot) }
	for i := range hints {
		hint := &hints[i]
		if d.has(hint.slot) && hint.reports(r, d, hint.slot) && !slices.ContainsFunc(hint.codes, isSuccess) {
			return hint.reason
		}
	}
	return ""
}

// objectsAround yields the paths of the objects around a place, from the innermost one to the document. It skips lists.
func objectsAround(place string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for place != "" {
			name := lastName(place)
			place = parentOf(place)
			if !table.IsPosition(name) && !yield(place) {
				return
			}
		}
	}
}

// adjacentPaths returns where the last name of paths may be in the object that holds a place, other than the paths that the contract reads.
func adjacentPaths(place string, paths []string, reserved map[string]bool) (adjacent []string) {
	objects := slices.Collect(objectsAround(place))
	if len(objects) == 0 {
		return nil
	}
	for _, path := range paths {
		name := beyond(place, path)
		path = join(objects[0], name)
		isKnown := reserved[path] || slices.Contains(adjacent, path)
		if !strings.Contains(name, ".") && !isKnown {
			adjacent = append(adjacent, path)
		}
	}
	return adjacent
}

// beyond returns the rest of a path after the names that it shares with a place.
func beyond(place, path string) string {
	for {
		name, rest, nests := strings.Cut(path, ".")
		shared, within, _ := strings.Cut(place, ".")
		if !nests || name != shared {
			return path
		}
		path = rest
		place = within
	}
}

// join returns the path within an object, or the document itself, as a path of the document.
func join(object, path string) string {
	if object == "" {
		return path
	}
	return object + "." + path
}
