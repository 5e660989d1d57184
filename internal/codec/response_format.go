package codec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// responseFormat is what the contract says about the responses of an operation: where each concept is, and how they report a failure.
type responseFormat struct {
	paths

	errors     *table.Errors
	vocabulary *vocabulary
	codes      []codePlace
	messages   []int // the slots of errors.message
	requests   []int // the slots of errors.request

	hints     [][]failureHint     // for each place that was given to compileResponseFormat
	nameKinds map[string]nameKind // of the names of the contract
	exempt    map[string]bool     // see exemptPaths
}

// codePlace is a place of an error code: its slot, and the slot of the object that reports an error if it is not empty. If there is no such
// object, that is the slot of the code itself.
type codePlace struct {
	slot, object int
}

// compileResponseFormat compiles the paths of a response by concept, and the paths of its rows. The places are the paths of what the operation
// reads, such as the rows: see compileHints.
func compileResponseFormat(
	byConcept map[string][]string, rows, places []string, known *vocabulary, errors *table.Errors,
) responseFormat {
	r := responseFormat{paths: compilePaths(byConcept), errors: errors, vocabulary: known}
	for _, path := range errors.Code {
		object := cmp.Or(errorObject(path, byConcept, rows), path)
		r.codes = append(r.codes, codePlace{slot: r.Add(path)[0], object: r.Add(object)[0]})
	}
	r.messages = r.Add(errors.Message...)
	r.requests = r.Add(errors.Request...)
	r.hints = r.compileHints(places, byConcept)
	r.nameKinds = kindsOfNames(byConcept, errors)
	r.exempt = exemptPaths(byConcept)
	for i, path := range rows {
		r.AddList(path, i)
	}
	return r
}

// errorObject returns the object of the code at a path, such as error of error.code. It returns "" if that is the document, or if the
// operation reads something else from the object, such as rows.
func errorObject(path string, byConcept map[string][]string, rows []string) string {
	object := parentOf(path)
	inObject := func(other string) bool { return strings.HasPrefix(other+".", object+".") }
	isShared := slices.ContainsFunc(rows, inObject)
	for _, list := range byConcept {
		isShared = isShared || slices.ContainsFunc(list, inObject)
	}
	if isShared {
		return ""
	}
	return object
}
