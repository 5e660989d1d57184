// Package codec is a compiled contract. It writes a message or a query as a request under the names of the contract, and
// reads what comes back from wherever the contract says that things stand, each in one pass.
package codec

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// KeyPair returns a key and its secret. It is a function so that no verb of package fmt prints the secret, and nil if a request
// carries none.
type KeyPair func() (key, secret string)

// Failure is what a response says of a failure.
type Failure struct {
	Code, Message string
	RequestID     string // of errors.request
	Class         string // of Code, a key of errors.classes, or ""
	// Own reports whether the response is the service's own, and not a proxy's: it holds a request ID, or an error code that is
	// no HTTP status.
	Own bool
}

// detached returns a copy that keeps no response of such a length alive.
func (f Failure) detached(length int) Failure {
	if length > shortest {
		f.Code, f.Message, f.RequestID = strings.Clone(f.Code), strings.Clone(f.Message), strings.Clone(f.RequestID)
	}
	return f
}

// Why a response may not be taken for a success although its code has no class.
const (
	noCode      = "the response holds something that is not a code at the place of an error code (errors.code)"
	noneInError = "the response holds an error without a code (errors.code)"
	UnknownCode = "the response holds a code that the contract does not know (errors.success, errors.classes)"
)

// responses finds what a response says, by concept, and reads what it says of a failure.
type responses struct {
	paths

	errs                           *table.Errors
	words                          words
	code, object, message, request []int            // slots
	codesIn                        map[int][]int    // the codes of each object, by slot
	clues                          [][]clue         // by place
	names                          map[string]usual // of the contract
	elsewhere                      map[string]bool  // see there
}

// compileResponses compiles lists of paths by concept, the places of a failure, the paths at which rows may stand, and the clues around
// places. The object of the code at error.code is error, unless the operation reads something else from it, such as rows; a code
// that is in no such object has its own place in the list of objects.
func compileResponses(lists map[string][]string, rows, places []string, words words, errs *table.Errors) responses {
	objects := slices.Clone(errs.Code)
	for i, path := range errs.Code {
		object := path[:max(0, strings.LastIndexByte(path, '.'))]
		inObject := func(other string) bool { return strings.HasPrefix(other+".", object+".") }
		shared := slices.ContainsFunc(rows, inObject)
		for _, others := range lists {
			shared = shared || slices.ContainsFunc(others, inObject)
		}
		if object != "" && !shared {
			objects[i] = object
		}
	}
	r := responses{paths: compilePaths(lists), errs: errs, words: words}
	r.code, r.object, r.message, r.request = r.Add(errs.Code...), r.Add(objects...), r.Add(errs.Message...), r.Add(errs.Request...)
	r.codesIn = map[int][]int{}
	for i, object := range r.object {
		r.codesIn[object] = append(r.codesIn[object], r.code[i])
	}
	r.clues = r.compileClues(places, lists)
	r.names = compileNames(lists, errs)
	r.elsewhere = elsewhere(lists)
	for i, path := range rows {
		r.AddList(path, i)
	}
	return r
}

// compileNames returns what the names in paths stand for, so that most names of a response are known. The last names of error codes and of
// statuses are those, whatever services usually call so.
func compileNames(lists map[string][]string, errs *table.Errors) map[string]usual {
	names := map[string]usual{}
	add := func(paths []string, last usual) {
		for _, path := range paths {
			all := strings.Split(path, ".")
			for _, name := range all {
				names[name] |= usualOf([]byte(name))
			}
			names[all[len(all)-1]] |= last
		}
	}
	for concept, paths := range lists {
		if concept == "status" {
			add(paths, ofStatus)
		} else {
			add(paths, 0)
		}
	}
	add(errs.Code, ofCode)
	add(errs.Message, 0)
	add(errs.Request, 0)
	return names
}

// elsewhere returns the paths, and the paths on the way to them, at which the contract reads something else than their names usually stand
// for, such as an operator at data.status. They say nothing of a failure.
func elsewhere(lists map[string][]string) map[string]bool {
	all := map[string]bool{}
	for concept, list := range lists {
		if concept == "status" {
			continue
		}
		for _, path := range list {
			for rest := path; rest != ""; rest = rest[:max(0, strings.LastIndexByte(rest, '.'))] {
				meaning := usualOf([]byte(rest[strings.LastIndexByte(rest, '.')+1:]))
				holdsMessage := rest != path && meaning&ofMessage != 0 // such as result, which is no status as an object
				if meaning&(ofFailure|ofSuccess|ofPart|ofStatus|ofCode) != 0 && !holdsMessage {
					all[rest] = true
				}
			}
		}
	}
	return all
}

// usualOf returns what a name stands for, usually or in the contract.
func (r *responses) usualOf(name []byte) usual {
	if meaning, ok := r.names[string(name)]; ok {
		return meaning
	}
	return usualOf(name)
}

// failure returns what a response says of a failure. The first code that is present and none of success counts, or the first of
// success. If it has no class, doubt is why the response may not be taken for a success; "" if it may.
func (r *responses) failure(text string, found []value) (f Failure, doubt string) {
	for i, slot := range r.code {
		v := found[slot]
		code := strings.TrimSpace(v.Word(text))
		switch {
		case slot == root && !v.IsScalar():
			// the code would be the whole body, which is no text
		case v.Kind <= jsonscan.Null || v.IsScalar() && code == "" || v.Kind == jsonscan.Boolean && code == "false":
			if object := r.object[i]; object != slot && !r.isNoError(text, found[object]) && !r.anySuccess(text, found, r.codesIn[object]) {
				doubt = cmp.Or(doubt, noneInError)
			}
		case v.Kind == jsonscan.Boolean || !v.IsScalar():
			doubt = cmp.Or(doubt, noCode)
		default:
			class, isSuccess := r.meaning(code)
			switch {
			case slot == root && class == "" && !isSuccess:
				// a text that may be the word of a status
			case isSuccess:
				f.Code = cmp.Or(f.Code, code)
			case doubt != UnknownCode: // it is the first
				f.Code, f.Class = code, class
				doubt = UnknownCode
			}
		}
	}
	if f.Class != "" {
		doubt = ""
	}
	f.Message = first(text, found, r.message)
	f.RequestID = first(text, found, r.request)
	_, isSuccess := r.meaning(f.Code)
	f.Own = f.Class != "" || !isSuccess && !table.IsPlaceholder(f.Code) && !isStatus(f.Code) || !table.IsPlaceholder(f.RequestID)
	return f, doubt
}

// A reading is one response as it was read.
type reading struct {
	doc     []byte  // without a byte order mark
	text    string  // the same
	found   []value // by slot
	repeats bool    // a member of the contract came twice in its object
	notJSON error   // why the response is one text, or nil if it is JSON
}

// read reads a response. One that is not JSON is one text, the value of the document, if the contract looks for something there; a long
// text is none: it is a page.
func (r *responses) read(body []byte, few []value) (reading, error) {
	const longest = 4 << 10
	w := jsonscan.NewWalker(withoutMark(body))
	found, err := r.Find(w, few)
	if err == nil {
		return reading{doc: w.Doc, text: string(w.Doc), found: found, repeats: w.Repeats}, nil
	}
	text := bytes.TrimSpace(body)
	if !r.Root.IsWanted || len(body) > longest || len(text) == 0 || !utf8.Valid(text) {
		return reading{found: found}, err
	}
	clear(found)
	found[root] = value{Kind: jsonscan.String, End: len(text)}
	return reading{doc: text, text: string(text), found: found, notJSON: err}, nil
}

// meaning returns the class of a code, or "", or reports that it is one of success, whichever the contract matches better.
func (r *responses) meaning(code string) (class string, isSuccess bool) {
	if code == "" {
		return "", false
	}
	class, match := table.Meaning(r.errs.Classes, code, false)
	if table.Match(r.errs.Success, code, true) > match {
		return "", true
	}
	return class, false
}

// anySuccess reports whether one of the codes at slots is one of success.
func (r *responses) anySuccess(text string, found []value, slots []int) bool {
	return slices.ContainsFunc(slots, func(slot int) bool {
		_, isSuccess := r.meaning(strings.TrimSpace(found[slot].Word(text)))
		return isSuccess
	})
}

// isNoError reports whether the value at the place of an error says that there is none.
func (r *responses) isNoError(text string, v value) bool {
	switch v.Kind {
	case jsonscan.Absent, jsonscan.Null:
		return true
	case jsonscan.Object, jsonscan.List:
		return strings.TrimSpace(text[v.Start+1:v.End-1]) == ""
	default:
		word := strings.TrimSpace(v.Word(text))
		_, isSuccess := r.meaning(word)
		return word == "" || v.Kind == jsonscan.Boolean && word == "false" || v.Kind != jsonscan.Boolean && isSuccess
	}
}

// reader is what operations that read share. They add what they read, and where it stands.
type reader struct {
	encoding

	always    []member // constants
	responses responses
	failures  responses // of a response whose status says that it is a failure
	wanted    []int     // slots of what is asked for, if it is no list of rows
}

// newReader compiles an operation that reads lists of paths by concept. Wanted are those of what is asked for, unless it is the rows at
// others.
func newReader(t *table.Table, op *table.Read, target *url.URL, pair KeyPair, lists map[string][]string, wanted, rows []string) reader {
	lists, errs := maps.Clone(lists), &t.Errors
	lists["status"] = t.SMSSend.Paths()["status"]
	known := compileWords(t, errs, t.SMSSend.Accepted, t.SMSSend.Refused)
	r := reader{
		encoding:  newEncoding(t, &op.Operation, op.Method, target, pair),
		responses: compileResponses(lists, rows, slices.Concat(wanted, rows), known, errs),
		failures:  compileResponses(nil, nil, nil, words{}, errs),
	}
	r.wanted, r.always = r.responses.Add(wanted...), r.constants(op.Constants)
	r.take(r.always)
	return r
}

// write returns the request for members, to which it adds the credentials. Those of a query stand in the order of their names.
func (r *reader) write(target *url.URL, members, inQuery []member) Request {
	beside, apart := r.credentials()
	members, inQuery = append(members, beside...), append(apart, inQuery...)
	if r.kind == "query" {
		members, inQuery = append(members, inQuery...), nil
		slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	}
	return r.request(target, members, inQuery)
}

// DecodeFailure reads a response whose status says that it is a failure. The error says why it is not JSON.
func (r *reader) DecodeFailure(body []byte) (Failure, error) {
	read, err := r.failures.read(body, nil)
	if err != nil {
		return Failure{}, err
	}
	failure, _ := r.failures.failure(read.text, read.found)
	if _, isSuccess := r.failures.meaning(failure.Code); read.notJSON != nil && failure.Class == "" && !isSuccess {
		return Failure{}, read.notJSON
	}
	return failure.detached(len(body)), nil
}

// parsed is a response that was read.
type parsed struct {
	*responses

	text    string
	found   []value
	repeats bool
}

// word returns the first word at the paths of a concept that is not empty, or "".
func (p *parsed) word(concept string) string { return first(p.text, p.found, p.slots[concept]) }

// number returns the whole number of a concept, or 0.
func (p *parsed) number(concept string) int {
	n, _ := wholeInt(p.word(concept))
	return n
}

// decode reads a response whose status says that it is a success. A response with an error code is a Failure that has a Code. missing is
// the error of a response without what is asked for.
func (r *reader) decode(body []byte, rows *rowReader, missing error) (parsed, Failure, error) {
	p := parsed{responses: &r.responses}
	var err error
	if p.text, p.found, p.repeats, err = r.responses.findRows(body, rows); err == nil && rows != nil {
		err = rows.err
	}
	if err != nil {
		if failure, noText := r.DecodeFailure(body); noText == nil && failure.Class != "" {
			return p, failure, nil // a text that says why
		}
		return p, Failure{}, err
	}
	failure, doubt := r.responses.failure(p.text, p.found)
	if failure.Class != "" || doubt == UnknownCode {
		return p, failure, nil
	}
	failure.Code = "" // it is one of success, and the message may still say what is wrong
	place := slices.IndexFunc(r.wanted, func(slot int) bool { return p.found[slot].Kind > jsonscan.Null })
	if rows != nil {
		place = rows.list
	}
	refuses := func(slot int) bool { return p.found[slot].IsScalar() && p.words.refuses(p.found[slot].Word(p.text)) }
	switch {
	case doubt != "":
		return p, failure, pageError(doubt)
	case place < 0:
		return p, failure, missing
	case p.repeats:
		return p, failure, pageError(repeated)
	case slices.ContainsFunc(p.slots["status"], refuses):
		return p, failure, pageError("the response has a status that says that it failed")
	}
	if trouble := p.trouble(p.text, p.found, p.clues[place]); trouble != "" {
		return p, failure, pageError(trouble)
	}
	return p, failure, nil
}

// ErrPage matches the errors of responses that are JSON, but cannot be used: to request it again would bring the same. The errors say
// why.
var ErrPage = errors.New("no page")

type pageError string

func (e pageError) Error() string { return string(e) }

// Is matches ErrPage.
func (e pageError) Is(target error) bool { return target == ErrPage }

// isStatus reports whether a code is only an HTTP status, such as 403, "403 Forbidden" or "Forbidden": a proxy may write that.
func isStatus(code string) bool {
	number, _, _ := strings.Cut(code, " ")
	status, err := strconv.Atoi(number)
	texts := []string{"forbidden", "not found", "method not allowed", "gone"}
	return err == nil && status >= 100 && status < 600 || slices.Contains(texts, strings.ToLower(code))
}

// wholeNumber reads an integer, possibly with a fraction of zeros. Blank is 0.
func wholeNumber(word string) (int64, bool) {
	word = strings.TrimSpace(word)
	if word == "" {
		return 0, true
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil || f < -1<<63 || f >= 1<<63 || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// wholeInt is wholeNumber for an int, which has 32 bits on some processors.
func wholeInt(word string) (int, bool) {
	n, ok := wholeNumber(word)
	if !ok || int64(int(n)) != n {
		return 0, false
	}
	return int(n), true
}
