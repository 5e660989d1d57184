package messagingtest

import (
	"cmp"
	_ "embed" // for the rules
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed rules.json
var rulesJSON []byte

// rules say what the messages of all channels have to be. The members of SMS, ChatApp, ChatApp1 and Payloads are concepts, those
// of the others are the third-party platform's.
type rules struct {
	SMS, ChatApp, ChatApp1, ChatApp2, Content shape

	Payloads []payload        // in the order in which they are tried: text and image are also parts of a call to action
	Shapes   map[string]shape // by the word that stands for them elsewhere
}

// A shape says what the members of an object have to be; others may be anything. A member whose name ends in ? may be absent.
// "type=x" is a shape for the same object if its type is x.
//
// The value of a member is a shape; a list of what its elements are, of which a member that has to be there has at least one;
// "=a|b" for one of these words; or a word that Shapes, checkWord or checkText knows.
type shape = map[string]any

func readRules() (r rules) {
	err := json.Unmarshal(rulesJSON, &r)
	must(err == nil, "rules.json: %v", err)
	return r
}

// A rule says what a member has to be.
type rule struct {
	member   string
	optional bool
	value    any
}

// rulesOf returns the rules of a shape, in the same order each time.
func rulesOf(s shape) []rule {
	var rules []rule
	for _, member := range slices.Sorted(maps.Keys(s)) {
		name, optional := strings.CutSuffix(member, "?")
		rules = append(rules, rule{name, optional, s[member]})
	}
	return rules
}

// checkMembers returns the first problem of an object.
func (op operation) checkMembers(path string, o object, rules []rule) *problem {
	for _, r := range rules {
		kind, isVariant := strings.CutPrefix(r.member, "type=")
		field, raw := path+r.member, o[r.member]
		var p *problem
		switch {
		case isVariant && strings.EqualFold(o.text("type"), kind): // the platform's own examples have both cases
			p = op.checkMembers(path, o, rulesOf(r.value.(shape)))
		case isVariant, r.optional && raw == nil:
		case raw == nil:
			p = &problem{codeMissing, field + " is absent"}
		default:
			list := listOf(raw)
			isEmpty := !r.optional && list != nil && len(list) == 0
			p = cmp.Or(op.checkValue(field, raw, r.value), refuseIf(isEmpty, codeMissing, field+" is empty"))
		}
		if p != nil {
			return p
		}
	}
	return nil
}

// checkValue returns what is wrong with the value of a field, or nil.
func (op operation) checkValue(field string, raw json.RawMessage, value any) *problem {
	switch value := value.(type) {
	case shape:
		o := objectOf(raw)
		if o == nil {
			return &problem{codeKind, field + " is not an object"}
		}
		return op.checkMembers(field+".", o, rulesOf(value))
	case []any:
		list := listOf(raw)
		for i, element := range list {
			if p := op.checkValue(field+"["+strconv.Itoa(i)+"]", element, value[0]); p != nil {
				return p
			}
		}
		return refuseIf(list == nil, codeKind, field+" is not an array")
	default:
		return op.checkWord(field, raw, value.(string))
	}
}

// checkWord checks what a word stands for.
func (op operation) checkWord(field string, raw json.RawMessage, word string) *problem {
	number, err := strconv.ParseFloat(string(raw), 64)
	switch word {
	case "media":
		o := objectOf(raw)
		isWrong := o != nil && (o["id"] == nil) == (o["link"] == nil)
		p := op.checkValue(field, raw, op.rules.Shapes[word])
		return cmp.Or(p, refuseIf(isWrong, codePayload, field+" does not have exactly one of id and link"))
	case "texts": // an object that holds nothing but strings
		texts := shape{}
		for name := range objectOf(raw) {
			texts[name] = "text"
		}
		return op.checkValue(field, raw, texts)
	case "flag":
		return refuseIf(string(raw) != "true" && string(raw) != "false", codeKind, field+" is neither true nor false")
	case "degrees": // or a string that holds them: the platform's own examples have both
		_, err = strconv.ParseFloat(plainOf(raw), 64)
		return refuseIf(err != nil, codeKind, field+" is not a number")
	case "lifetime": // 60.0 and 6e1 are the same number, but not what a client should write
		isWrong := lifetimeOf(raw, op.TTL) == 0
		return refuseIf(isWrong, codeLifetime, field+" is not a whole number above zero, or is too large")
	case "positive", "count":
		_, wholeErr := strconv.ParseUint(string(raw), 10, 64)
		isWrong := number <= 0 || word == "count" && wholeErr != nil
		return cmp.Or(refuseIf(err != nil, codeKind, field+" is not a number"),
			refuseIf(isWrong, codeValue, field+" is not above zero, or not a whole number"))
	}
	if inner := op.rules.Shapes[word]; inner != nil {
		return op.checkValue(field, raw, inner)
	}
	return checkText(field, raw, word)
}

// checkText checks a string. Only that of the kind "text" may be empty.
func checkText(field string, raw json.RawMessage, kind string) *problem {
	text, isText := textOf(raw)
	var p *problem
	switch kind {
	case "text", "filled":
	case "recipient":
		p = refuseIf(!isMobileNumber(text), codeRecipient, field+" is not 5 to 15 digits with an optional +")
	case "user": // the point is behind the country code
		p = refuseIf(!strings.Contains(text, "."), codeRecipient, field+" is not a user ID")
	case "callback": // with placeholders
		p = refuseIf(!isURLTemplate(text), codeCallback, field+" is not an http or https URL")
	case "link":
		p = refuseIf(!isURL(text), codeURL, field+" is not an absolute http or https URL")
	default:
		words := strings.Split(strings.TrimPrefix(kind, "="), "|")
		p = refuseIf(!slices.Contains(words, text), codeValue, field+" is none of "+strings.Join(words, ", "))
	}
	return cmp.Or(
		refuseIf(!isText, codeKind, field+" is not a string"),
		refuseIf(text == "" && kind != "text", codeMissing, field+" is empty"),
		p,
	)
}

// lifetimeOf returns zero for what is not a whole number of a unit of the contract.
func lifetimeOf(raw json.RawMessage, unit string) time.Duration {
	units := map[string]time.Duration{"ms": time.Millisecond, "m": time.Minute}
	of := cmp.Or(units[unit], time.Second)
	n, err := strconv.ParseUint(string(raw), 10, 63)
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
