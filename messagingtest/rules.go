package messagingtest

import (
	"cmp"
	_ "embed" // for the rules
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

//go:embed rules.json
var rulesJSON []byte

// rules are what rules.json says: what the messages of all channels have to be, and how they are refused. The members of Channels,
// ChatApp and Payloads are concepts, those of the other shapes and of chat app 2 are the third-party platform's.
type rules struct {
	Channels map[Channel]shape
	ChatApp  shape // of messages of any chat app, beside their content
	Content  shape

	Payloads []payload        // in the order in which they are tried: text and image are also parts of a call to action
	Shapes   map[string]shape // by the word that stands for them elsewhere

	// Problems are why a request is refused. One with the name of a class of the contract is of that class, the others are
	// invalid: which of their codes stands for what is this package's choice. The status is 400 unless there is another.
	Problems map[string]struct {
		Code   string
		Status int
	}
	Statuses map[string]string // the problem that goes with the status of a fault, or a hundred of them
}

// A shape says what the members of an object have to be; others may be anything. A member whose name ends in ? may be absent.
// "type=x" is a shape for the same object if its type is x.
//
// The value of a member is a shape; a list of what its elements are, of which a member that has to be there has at least one;
// "=a|b" for one of these words; "1..60" for a whole number in this range, or "1.." without an upper bound; or a word that Shapes,
// checkWord or checkText knows.
type shape = map[string]any

var readRules = sync.OnceValue(func() (r rules) { //nolint:gochecknoglobals // never written
	err := json.Unmarshal(rulesJSON, &r)
	must(err == nil, "rules.json: %v", err)
	return r
})

// itself is the name of a member in a shape of the third-party platform.
func itself(member string) string { return member }

// checkMembers returns the first problem of an object. The name of a member that the service does not have is "".
func (op operation) checkMembers(path string, members document, s shape, name func(member string) string) *problem {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		member, isOptional := strings.CutSuffix(key, "?")
		kind, isVariant := strings.CutPrefix(member, "type=")
		member = name(member)
		value, isPresent := members[member]
		field := path + member
		var p *problem
		switch {
		case isVariant && strings.EqualFold(textIn(members, "type"), kind): // the platform's own examples have both cases
			p = op.checkMembers(path, members, s[key].(shape), name)
		case isVariant, member == "", isOptional && !isPresent:
		case !isPresent:
			p = &problem{"missing", field + " is absent"}
		default:
			list, isList := value.([]any)
			isEmpty := !isOptional && isList && len(list) == 0
			p = cmp.Or(op.checkValue(field, value, s[key]), refuseIf(isEmpty, "missing", field+" is empty"))
		}
		if p != nil {
			return p
		}
	}
	return nil
}

func (op operation) checkValue(field string, value, rule any) *problem {
	switch rule := rule.(type) {
	case shape:
		members, ok := value.(document)
		if !ok {
			return &problem{"kind", field + " is not an object"}
		}
		return op.checkMembers(field+".", members, rule, itself)
	case []any:
		list, ok := value.([]any)
		for i, element := range list {
			if p := op.checkValue(field+"["+strconv.Itoa(i)+"]", element, rule[0]); p != nil {
				return p
			}
		}
		return refuseIf(!ok, "kind", field+" is not an array")
	default:
		return op.checkWord(field, value, rule.(string))
	}
}

func (op operation) checkWord(field string, value any, word string) *problem {
	members, _ := value.(document)
	if inner := op.rules.Shapes[word]; inner != nil {
		return cmp.Or(op.checkValue(field, value, inner), refuseIf(word == "media" && (members["id"] == nil) == (members["link"] == nil),
			"payload", field+" does not have exactly one of id and link"))
	}
	number, isNumber := value.(json.Number)
	switch word {
	case "texts": // an object that holds nothing but strings
		texts := shape{}
		for name := range members {
			texts[name] = "text"
		}
		return op.checkValue(field, value, texts)
	case "flag":
		_, ok := value.(bool)
		return refuseIf(!ok, "kind", field+" is neither true nor false")
	case "degrees": // or a string that holds them: the platform's own examples have both
		_, err := strconv.ParseFloat(fmt.Sprint(value), 64)
		return refuseIf(err != nil, "kind", field+" is not a number")
	case "time":
		_, ok := op.times.parse(fmt.Sprint(value))
		return refuseIf(!ok, "time", field+" is not a time of the contract's form")
	case "lifetime": // 60.0 and 6e1 are the same number, but not what a client should write
		return refuseIf(lifetimeOf(value, op.TTL) == 0, "lifetime", field+" is not a whole number above zero, or is too large")
	case "positive":
		n, err := number.Float64()
		return cmp.Or(refuseIf(!isNumber || err != nil, "kind", field+" is not a number"),
			refuseIf(n <= 0, "value", field+" is not above zero"))
	}
	if least, most, isRange := strings.Cut(word, ".."); isRange {
		n, err := strconv.ParseUint(number.String(), 10, 63)
		from, fromErr := strconv.ParseUint(least, 10, 63)
		to, toErr := strconv.ParseUint(cmp.Or(most, strconv.FormatInt(math.MaxInt64, 10)), 10, 63)
		must(fromErr == nil && toErr == nil, "rules.json: %q is no range", word)
		return cmp.Or(refuseIf(!isNumber, "kind", field+" is not a number"),
			refuseIf(err != nil || n < from || n > to, "value", field+" is not a whole number from "+least+" to "+cmp.Or(most, "any")))
	}
	return checkText(field, value, word)
}

// checkText checks a string. Only that of the kind "text" may be empty.
func checkText(field string, value any, kind string) *problem {
	text, isText := value.(string)
	var p *problem
	switch kind {
	case "text", "filled":
	case "recipient":
		p = refuseIf(!isMobileNumber(text), "recipient", field+" is not 5 to 15 digits with an optional +")
	case "user": // the point is behind the country code
		p = refuseIf(!strings.Contains(text, "."), "recipient", field+" is not a user ID")
	case "callback": // with placeholders
		p = refuseIf(!isURLTemplate(text), "callback", field+" is not an http or https URL")
	case "link":
		p = refuseIf(!isURL(text), "url", field+" is not an absolute http or https URL")
	default:
		choice, ok := strings.CutPrefix(kind, "=")
		must(ok, "rules.json: there is no word %q", kind)
		words := strings.Split(choice, "|")
		p = refuseIf(!slices.Contains(words, text), "value", field+" is none of "+strings.Join(words, ", "))
	}
	return cmp.Or(
		refuseIf(!isText, "kind", field+" is not a string"),
		refuseIf(text == "" && kind != "text", "missing", field+" is empty"),
		p,
	)
}

// lifetimeOf returns zero for what is not a whole number of a unit of the contract.
func lifetimeOf(value any, unit string) time.Duration {
	of, _ := table.UnitOf(unit)
	number, _ := value.(json.Number)
	n, err := strconv.ParseUint(number.String(), 10, 63)
	if err != nil || time.Duration(n) > math.MaxInt64/of {
		return 0
	}
	return time.Duration(n) * of
}

func isMobileNumber(s string) bool {
	digits := strings.TrimPrefix(s, "+")
	return len(digits) >= 5 && len(digits) <= 15 && strings.Trim(digits, "0123456789") == ""
}

func isURL(s string) bool {
	_, err := url.Parse(s)
	return err == nil && isURLTemplate(s)
}

// isURLTemplate checks the scheme and the host only: behind them, placeholders such as %s need not be valid escapes.
func isURLTemplate(s string) bool {
	u, err := url.Parse(regexp.MustCompile(`^[^/]*://[^/?#]*`).FindString(s))
	isHTTP := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	return isHTTP && u.Hostname() != "" && !strings.ContainsFunc(s, isControlOrSpace)
}

func isControlOrSpace(r rune) bool { return r <= ' ' || r == 0x7f }

// A problem is why a request is refused: one of the rules, by its name. Its text names fields and never repeats a value.
type problem struct{ name, text string }

func refuseIf(isProblem bool, name, text string) *problem {
	if !isProblem {
		return nil
	}
	return &problem{name, text}
}

// codeOf returns the code of a problem, if the contract has it in the class of the problem, else another code of the class: one
// that is listed, or that a prefix makes of it. It returns "" if the contract has none.
func (s *Server) codeOf(name string) string {
	errs := &s.names.Errors
	own, class := s.rules.Problems[name].Code, "invalid"
	if _, ok := errs.Classes[name]; ok {
		class = name
	}
	for _, known := range append([]string{own}, errs.Classes[class]...) {
		code, isPrefix := strings.CutSuffix(known, "*")
		if isPrefix {
			code += own
		}
		meaning, _ := table.Meaning(errs.Classes, code, false)
		if own != "" && meaning == class && table.Match(errs.Success, code, true) < 0 {
			return code
		}
	}
	return ""
}

// failure returns the body of an error response, with a word or a code at the first of the paths that is free. If that is the body
// itself, the code is all of it.
func (s *Server) failure(requestID, text string, paths []string, code any) []byte {
	if len(paths) > 0 && paths[0] == "" && code != "" {
		return encode(plainText(fmt.Sprint(code)))
	}
	body := placeFirst(document{}, s.names.Errors.Message, text)
	body = placeFirst(body, s.names.Errors.Request, requestID)
	return encode(placeFirst(body, paths, code))
}

// firstWord returns a word that the first entry of a list stands for, or "" if there is none.
func firstWord(list []string) string {
	return strings.TrimSuffix(slices.Concat(list, []string{""})[0], "*")
}
