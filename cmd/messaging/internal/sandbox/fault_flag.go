package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// parseFault parses the flag --fault: a name, then parameters such as status=429, separated by commas. It decodes them as the API does, so
// that both have the same names and errors.
func parseFault(text string) (faultRule, error) {
	fields, err := faultFields(text)
	if err != nil {
		return faultRule{}, err
	}
	encoded, err := json.Marshal(fields)
	if err != nil {
		return faultRule{}, err
	}
	var rule faultRule
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&rule)
	if err != nil {
		return faultRule{}, explainJSON(err)
	}
	err = rule.compile(time.Now())
	return rule, err
}

// faultFields returns the fields of a flag by their names in the API.
func faultFields(text string) (map[string]any, error) {
	name, rest, _ := strings.Cut(text, ",")
	fields := map[string]any{"fault": name}
	for field := range strings.SplitSeq(rest, ",") {
		if field == "" {
			continue
		}
		parameter, text, _ := strings.Cut(field, "=")
		if fields[parameter] != nil {
			return nil, fmt.Errorf("%s is set twice", parameter)
		}
		value, err := faultValue(parameter, text)
		if err != nil {
			return nil, err
		}
		fields[parameter] = value
	}
	return fields, nil
}

// faultValue returns the value of a parameter as the API takes it.
func faultValue(parameter, text string) (any, error) {
	switch parameter {
	case "skip", "n", "status":
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%s must be a whole number, not %q", parameter, clip(text, 40))
		}
		return number, nil
	case "share":
		share, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(share) || math.IsInf(share, 0) {
			return nil, fmt.Errorf("share must be a number from 0 to 1, not %q", clip(text, 40))
		}
		return share, nil
	default:
		return text, nil
	}
}
