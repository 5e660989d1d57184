package messagingtest

import (
	"cmp"
	"encoding/json"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A rule says what a member of an object has to be.
type rule struct {
	member   string
	required bool
	check    check
}

// A check returns what is wrong with the value of a field, or nil.
type check func(field string, raw json.RawMessage) *problem

// need is the rule for a member that has to be there.
func need(member string, c check) rule { return rule{member, true, c} }

// may is the rule for a member that may be absent.
func may(member string, c check) rule { return rule{member, false, c} }

// checkMembers returns the first problem of an object.
func checkMembers(path string, o object, rules []rule) *problem {
	for _, r := range rules {
		switch raw := o[r.member]; {
		case raw == nil && r.required:
			return &problem{codeMissing, path + r.member + " is absent"}
		case raw != nil:
			if p := r.check(path+r.member, raw); p != nil {
				return p
			}
		}
	}
	return nil
}

// isObject returns the check for an object with these members. Other members may be anything.
func isObject(rules ...rule) check {
	return func(field string, raw json.RawMessage) *problem {
		o := objectOf(raw)
		if o == nil {
			return &problem{codeKind, field + " is not an object"}
		}
		return checkMembers(field+".", o, rules)
	}
}

// isList returns the check for an array of at least so many elements, each of which passes another check.
func isList(least int, element check) check {
	return func(field string, raw json.RawMessage) *problem {
		list := listOf(raw)
		switch {
		case list == nil:
			return &problem{codeKind, field + " is not an array"}
		case len(list) < least:
			return &problem{codeMissing, field + " is empty"}
		}
		for i, value := range list {
			if p := element(field+"["+strconv.Itoa(i)+"]", value); p != nil {
				return p
			}
		}
		return nil
	}
}

// isText is the check for a string, which may be empty.
func isText(field string, raw json.RawMessage) *problem {
	_, ok := textOf(raw)
	return refuseIf(!ok, codeKind, field+" is not a string")
}

// isFilled is the check for a string that is not empty.
func isFilled(field string, raw json.RawMessage) *problem {
	text, ok := textOf(raw)
	if ok && text == "" {
		return &problem{codeMissing, field + " is empty"}
	}
	return isText(field, raw)
}

// isTextThat returns the check for a string that is not empty and passes a test.
func isTextThat(passes func(string) bool, code, reason string) check {
	return func(field string, raw json.RawMessage) *problem {
		if p := isFilled(field, raw); p != nil {
			return p
		}
		text, _ := textOf(raw)
		return refuseIf(!passes(text), code, field+reason)
	}
}

func isOneOf(words ...string) check {
	listed := func(s string) bool { return slices.Contains(words, s) }
	return isTextThat(listed, codeValue, " is none of "+strings.Join(words, ", "))
}

func isRecipient(field string, raw json.RawMessage) *problem {
	return isTextThat(isMobileNumber, codeRecipient, " is not 5 to 15 digits with an optional +")(field, raw)
}

func isLink(field string, raw json.RawMessage) *problem {
	return isTextThat(isURL, codeURL, " is not an absolute http or https URL")(field, raw)
}

func isFlag(field string, raw json.RawMessage) *problem {
	return refuseIf(string(raw) != "true" && string(raw) != "false", codeKind, field+" is neither true nor false")
}

// isPositive is the check for a number above zero.
func isPositive(field string, raw json.RawMessage) *problem {
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return &problem{codeKind, field + " is not a number"}
	}
	return refuseIf(n <= 0, codeValue, field+" is not above zero")
}

// isCount is the check for a whole number above zero.
func isCount(field string, raw json.RawMessage) *problem {
	if p := isPositive(field, raw); p != nil {
		return p
	}
	_, err := strconv.ParseUint(string(raw), 10, 64)
	return refuseIf(err != nil, codeValue, field+" is not a whole number")
}

// isDegrees is the check for a number, or a string that holds one: the platform's own examples have both.
func isDegrees(field string, raw json.RawMessage) *problem {
	_, err := strconv.ParseFloat(plainOf(raw), 64)
	return refuseIf(err != nil, codeKind, field+" is not a number")
}

// isLifetime returns the check for a whole number of a unit above zero. 60.0 and 6e1 are the same number, but not what a client
// should write.
func isLifetime(unit string) check {
	return func(field string, raw json.RawMessage) *problem {
		isWrong := lifetimeOf(raw, unit) == 0
		return refuseIf(isWrong, codeLifetime, field+" is not a whole number above zero, or is too large")
	}
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

// isTime returns the check for a time, written as a text or a number.
func isTime(format timeFormat) check {
	return func(field string, raw json.RawMessage) *problem {
		_, ok := format.parse(plainOf(raw))
		return refuseIf(!ok, codeTime, field+" is not a time of the contract's form")
	}
}

// isTexts is the check for an object that holds nothing but strings.
func isTexts(field string, raw json.RawMessage) *problem {
	var rules []rule
	for name := range objectOf(raw) {
		rules = append(rules, need(name, isText))
	}
	return isObject(rules...)(field, raw)
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
