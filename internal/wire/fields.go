package wire

import (
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Fields describes the fields of a message, a struct, that have a tag such as concept:"to,required,recipient": the concept, and
// what holds for the field. It is required, or its text is a recipient, a callback, a url or notblank. A whole number is never
// negative, and a time is in the years 1 to 9999. The fields of a struct in an interface or behind a pointer follow in its place;
// none of them is required if the pointer is nil. What users call a field begins with the prefix.
func Fields(message any, prefix string) []Field {
	return appendFields(make([]Field, 0, 10), reflect.ValueOf(message), prefix, true)
}

func appendFields(fields []Field, v reflect.Value, prefix string, required bool) []Field {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		concept, rules, _ := strings.Cut(field.Tag.Get("concept"), ",")
		switch inner := value.Kind(); {
		case concept != "":
			fields = append(fields, describe(value, Field{Concept: concept, Name: prefix + field.Name}, rules, required))
		case inner == reflect.Pointer && value.IsNil():
			fields = appendFields(fields, reflect.Zero(field.Type.Elem()), prefix+field.Name+".", false)
		case (inner == reflect.Pointer || inner == reflect.Interface) && value.Elem().Kind() == reflect.Struct:
			fields = appendFields(fields, value.Elem(), prefix+field.Name+".", required)
		}
	}
	return fields
}

// describe completes a field with its value and with what the rules say of it.
func describe(value reflect.Value, f Field, rules string, required bool) Field {
	if value.Kind() == reflect.String {
		f.Text = value.String()
	} else {
		f.Value = value.Interface()
	}
	switch v := f.Value.(type) {
	case int64:
		if v < 0 {
			f.Reason = "must not be negative, got " + strconv.FormatInt(v, 10)
		}
	case time.Time:
		f.Reason = CheckTime(v)
	}
	for rules != "" {
		var rule string
		rule, rules, _ = strings.Cut(rules, ",")
		f.apply(rule)
	}
	f.Required = f.Required && required
	return f
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
