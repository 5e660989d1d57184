package wire

import (
	"reflect"
	"strconv"
	"strings"
)

// Fields describes the fields of a message, a struct, that have a tag such as concept:"to,required,recipient": the concept, and
// what holds for the field. It is required, or its text is a recipient, a callback, a url or notblank. A whole number is never
// negative. What users call a field begins with the prefix.
func Fields(message any, prefix string) []Field {
	v := reflect.ValueOf(message)
	fields := make([]Field, 0, v.NumField())
	for i := range v.NumField() {
		field := v.Type().Field(i)
		concept, rules, _ := strings.Cut(field.Tag.Get("concept"), ",")
		if concept == "" {
			continue
		}
		f := Field{Concept: concept, Name: prefix + field.Name}
		if field.Type.Kind() == reflect.String {
			f.Text = v.Field(i).String()
		} else {
			f.Value = v.Field(i).Interface()
		}
		if n, ok := f.Value.(int64); ok && n < 0 {
			f.Reason = "must not be negative, got " + strconv.FormatInt(n, 10)
		}
		for rules != "" {
			var rule string
			rule, rules, _ = strings.Cut(rules, ",")
			f.apply(rule)
		}
		fields = append(fields, f)
	}
	return fields
}

func (f *Field) apply(rule string) {
	switch {
	case rule == "required":
		f.Required = true
	case rule == "recipient":
		f.Reason = CheckRecipient(f.Text)
	case rule == "callback":
		f.Reason = CheckCallbackURL(f.Text)
	case rule == "url":
		f.Reason = CheckURL(f.Text)
	case rule == "notblank" && strings.TrimSpace(f.Text) == "":
		f.Reason = "must not be white space only"
	}
}
