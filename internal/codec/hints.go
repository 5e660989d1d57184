package codec

import (
	"iter"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// A failureHint is a member outside the rows that may report that the request failed or that the page is incomplete. The rows describe
// messages, which may have failed. So a listing is not scanned at any depth, as the response to a send is.
type failureHint struct {
	name    string
	reason  string
	reports func(r *responses, d *document, slot int) bool
	slot    int
}

const (
	codeAround   = "the response holds an error code of a known class in the same object, or around it (errors.code, errors.classes)"
	errorAround  = "the response holds an error in the same object, or around it (errors.code)"
	statusAround = "the response holds a status in the same object, or around it, that says that the message failed (refused)"
	signAround   = "the response holds a sign of a failure, or that it is incomplete (errors, fault, success or partial)"
)

// failureHints returns the members that report a failure: codes and statuses by their names in the contract, and common names. Unknown
// codes and words say nothing.
func failureHints(codePaths, statusPaths []string) (hints []failureHint) {
	for _, path := range codePaths {
		hints = append(hints, failureHint{name: lastName(path), reason: codeAround, reports: (*responses).holdsClass})
	}
	hints = append(hints, failureHint{name: "error", reason: errorAround, reports: (*responses).holdsError})
	for _, path := range statusPaths {
		hints = append(hints, failureHint{name: lastName(path), reason: statusAround, reports: (*responses).holdsRefusal})
	}
	return append(
		hints,
		failureHint{name: "errors", reason: signAround, reports: (*responses).holdsError},
		failureHint{name: "fault", reason: signAround, reports: (*responses).holdsError},
		failureHint{name: "success", reason: signAround, reports: (*responses).holdsFalse},
		failureHint{name: "partial", reason: signAround, reports: (*responses).holdsTrue},
	)
}

// compileHints returns, for each place, the hints in the objects around it. Lists are the paths of a response by concept. A member that the
// contract reads for something else is no hint, and neither is an error code that responses.failure reads.
func (r *responses) compileHints(places []string, lists map[string][]string) (all [][]failureHint) {
	reserved := map[string]bool{}
	addAll(reserved, r.errors.Code)
	for concept, list := range lists {
		addAll(reserved, list)
		for _, path := range list {
			if concept != "status" {
				addAll(reserved, pathsAround(path))
			}
		}
	}
	for _, place := range places {
		var around []failureHint
		for object := range objectsAround(place) {
			for _, hint := range failureHints(r.errors.Code, lists["status"]) {
				if path := join(object, hint.name); !reserved[path] {
					hint.slot = r.Add(path)[0]
					around = append(around, hint)
				}
			}
		}
		all = append(all, around)
	}
	return all
}

func addAll(to map[string]bool, paths []string) {
	for _, path := range paths {
		to[path] = true
	}
}

// failureAround returns why the hints of a place report a failure, or "".
func (r *responses) failureAround(d *document, hints []failureHint) string {
	for i := range hints {
		hint := &hints[i]
		if d.has(hint.slot) && hint.reports(r, d, hint.slot) {
			return hint.reason
		}
	}
	return ""
}

func (r *responses) holdsClass(d *document, slot int) bool {
	class, _ := r.meaning(strings.TrimSpace(d.word(slot)))
	return d.values[slot].Kind != jsonscan.Boolean && class != ""
}

func (r *responses) holdsRefusal(d *document, slot int) bool {
	return d.values[slot].IsScalar() && r.vocabulary.refuses(d.word(slot))
}

func (r *responses) holdsFalse(d *document, slot int) bool { return isFalse(d.word(slot)) }

func (r *responses) holdsTrue(d *document, slot int) bool { return isTrue(d.word(slot)) }

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
