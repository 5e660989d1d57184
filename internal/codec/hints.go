package codec

import (
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// A failureHint is a member outside the rows that may report that the request failed or that the page is incomplete, such as success in
// {"success": false, "data": []}. The rows describe messages, which may have failed. So a listing is not scanned at any depth, as the response
// to a send is.
type failureHint struct {
	name    string
	reason  string
	reports func(r *responseFormat, d *document, slot int) bool
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
		hints = append(hints, failureHint{name: lastName(path), reason: codeAround, reports: (*responseFormat).holdsClass})
	}
	hints = append(hints, failureHint{name: "error", reason: errorAround, reports: (*responseFormat).holdsError})
	for _, path := range statusPaths {
		hints = append(hints, failureHint{name: lastName(path), reason: statusAround, reports: (*responseFormat).holdsRefusal})
	}
	signs := []failureHint{
		{name: "errors", reason: signAround, reports: (*responseFormat).holdsError},
		{name: "fault", reason: signAround, reports: (*responseFormat).holdsError},
		{name: "success", reason: signAround, reports: (*responseFormat).holdsFalse},
		{name: "partial", reason: signAround, reports: (*responseFormat).holdsTrue},
	}
	return append(hints, signs...)
}

// compileHints returns, for each place, the hints in the objects around it.
func (r *responseFormat) compileHints(places []string, byConcept map[string][]string) (all [][]failureHint) {
	isRead := map[string]bool{} // for something else, or by responseFormat.failure
	addAll(isRead, r.errors.Code)
	for concept, paths := range byConcept {
		addAll(isRead, paths)
		for _, path := range paths {
			if concept != "status" {
				addAll(isRead, pathsAround(path))
			}
		}
	}
	hints := failureHints(r.errors.Code, byConcept["status"])
	for _, place := range places {
		all = append(all, r.hintsAround(place, hints, isRead))
	}
	return all
}

// hintsAround returns the hints in the objects around a place, from the innermost object on, without members that the contract reads.
func (r *responseFormat) hintsAround(place string, hints []failureHint, isRead map[string]bool) (around []failureHint) {
	for object := range objectsAround(place) {
		for _, hint := range hints {
			path := join(object, hint.name)
			if !isRead[path] {
				hint.slot = r.Add(path)[0]
				around = append(around, hint)
			}
		}
	}
	return around
}

// failureAround returns why the hints of a place report a failure, or "".
func (r *responseFormat) failureAround(d *document, hints []failureHint) string {
	for i := range hints {
		hint := &hints[i]
		if d.has(hint.slot) && hint.reports(r, d, hint.slot) {
			return hint.reason
		}
	}
	return ""
}

func (r *responseFormat) holdsClass(d *document, slot int) bool {
	class, _ := r.meaning(strings.TrimSpace(d.word(slot)))
	return d.values[slot].Kind != jsonscan.Boolean && class != ""
}

func (r *responseFormat) holdsRefusal(d *document, slot int) bool {
	return d.values[slot].IsScalar() && r.vocabulary.refuses(d.word(slot))
}

func (r *responseFormat) holdsFalse(d *document, slot int) bool { return isFalse(d.word(slot)) }

func (r *responseFormat) holdsTrue(d *document, slot int) bool { return isTrue(d.word(slot)) }
