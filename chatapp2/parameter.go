package chatapp2

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Parameter is the value of a parameter of a Template. In a body it is one of TextParam, Currency, DateTime and RawParameter;
// in a header one of TextParam, Image, Video, Document, GIF, Location, Product and RawParameter. All are values, not pointers.
//
//sumtype:decl
type Parameter interface {
	// parameter is a parameterJSON or a json.RawMessage.
	parameter() any
}

// TextParam is a text.
type TextParam struct {
	// Name is the name of the parameter, of lower-case letters, digits and underscores. Empty if the template has no names.
	Name string `rule:"name"`
	// Text is required.
	Text string `rule:"required"`
}

// Named returns a text for the parameter of that name.
func Named(name, text string) TextParam { return TextParam{Name: name, Text: text} }

// Currency is an amount of money in a body, shown in the recipient's own format.
type Currency struct {
	// Name is like the Name of a TextParam.
	Name string `json:"-" rule:"name"`
	// FallbackValue is shown if the amount cannot be formatted. Required.
	FallbackValue string `json:"fallback_value,omitzero" rule:"required"`
	// Code is an ISO 4217 code, such as "USD". Required.
	Code string `json:"code,omitzero" rule:"required,currency"`
	// Amount1000 is the amount times 1000: 100.99 is 100990. Zero is an amount.
	Amount1000 int64 `json:"amount_1000"`
}

// DateTime is a date in a body. The platform shows only FallbackValue; its examples have the other fields too.
type DateTime struct {
	// Name is like the Name of a TextParam.
	Name string `json:"-" rule:"name"`
	// FallbackValue is shown. Required.
	FallbackValue string `json:"fallback_value,omitzero" rule:"required"`
	// DayOfWeek, Year, Month and DayOfMonth are not checked. Zero is absent.
	DayOfWeek  int `json:"day_of_week,omitzero"`
	Year       int `json:"year,omitzero"`
	Month      int `json:"month,omitzero"`
	DayOfMonth int `json:"day_of_month,omitzero"`
	// Hour and Minute are nil if absent; zero is midnight.
	Hour   *int `json:"hour,omitzero"`
	Minute *int `json:"minute,omitzero"`
	// Calendar is a word such as "GREGORIAN".
	Calendar string `json:"calendar,omitzero"`
}

// GIF is a silent, looping video in the header of a template, for marketing messages only.
type GIF struct {
	Media
}

// RawParameter is a parameter that no other type holds: of a new type, or with members that are new. If the type is known, so
// are its limits; exceeding them is a Limit. Otherwise it is only checked to be a JSON object with a type.
type RawParameter struct {
	// JSON is the whole parameter. Required.
	JSON json.RawMessage
}

// parameterJSON is a parameter in the platform's shape.
type parameterJSON struct {
	Type     string            `json:"type"`
	Name     string            `json:"parameter_name,omitzero"`
	Text     string            `json:"text,omitzero"`
	Currency *Currency         `json:"currency,omitzero"`
	DateTime *DateTime         `json:"date_time,omitzero"`
	Image    *Image            `json:"image,omitzero"`
	Video    *Video            `json:"video,omitzero"`
	Document *Document         `json:"document,omitzero"`
	GIF      *GIF              `json:"gif,omitzero"`
	Location *templateLocation `json:"location,omitzero"`
	Product  *Product          `json:"product,omitzero"`
}

const (
	parameterCurrency = "currency"
	parameterDateTime = "date_time"
	parameterGIF      = "gif"
	parameterProduct  = "product"
)

func (p TextParam) parameter() any { return parameterJSON{Type: "text", Name: p.Name, Text: p.Text} }

func (p Currency) parameter() any {
	name := p.Name
	p.Name = ""
	return parameterJSON{Type: parameterCurrency, Name: name, Currency: &p}
}

func (p DateTime) parameter() any {
	name := p.Name
	p.Name = ""
	return parameterJSON{Type: parameterDateTime, Name: name, DateTime: &p}
}

func (i Image) parameter() any    { return parameterJSON{Type: i.kind(), Image: &i} }
func (v Video) parameter() any    { return parameterJSON{Type: v.kind(), Video: &v} }
func (d Document) parameter() any { return parameterJSON{Type: d.kind(), Document: &d} }
func (p GIF) parameter() any      { return parameterJSON{Type: parameterGIF, GIF: &p} }
func (p Product) parameter() any  { return parameterJSON{Type: parameterProduct, Product: &p} }

func (l Location) parameter() any {
	return parameterJSON{Type: l.kind(), Location: (*templateLocation)(&l)}
}

func (p RawParameter) parameter() any { return p.JSON }

func parameterShapes(parameters []Parameter) []any {
	return each(parameters, func(parameter Parameter) any {
		if !isValue(parameter) {
			return nil
		}
		return parameter.parameter()
	})
}

func decodeParameters(values []any) []Parameter { return each(values, decodeParameter) }

// decodeParameter returns a parameter, typed if a type holds all of it.
func decodeParameter(value any) Parameter {
	if parameter, f := readParameter(value); f == exact {
		return parameter
	}
	return RawParameter{JSON: rawOf(value)}
}

// readParameter returns nil if the type is not known.
func readParameter(value any) (Parameter, fit) {
	b, f := readAs[parameterJSON](value)
	b.Type = strings.ToLower(b.Type)
	var parameter Parameter
	switch b.Type {
	case "text":
		parameter = TextParam{Name: b.Name, Text: b.Text}
	case parameterCurrency:
		currency := valueOf(b.Currency)
		currency.Name = b.Name
		parameter = currency
	case parameterDateTime:
		date := valueOf(b.DateTime)
		date.Name = b.Name
		parameter = date
	case "image":
		parameter = valueOf(b.Image)
	case "video":
		parameter = valueOf(b.Video)
	case "document":
		parameter = valueOf(b.Document)
	case parameterGIF:
		parameter = valueOf(b.GIF)
	case "location":
		parameter = Location(valueOf(b.Location))
	case parameterProduct:
		parameter = valueOf(b.Product)
	default:
		return nil, misfit
	}
	return parameter, f.exactIf(reflect.DeepEqual(parameter.parameter(), b))
}

// parameterName returns the name of a parameter of a body, and reports whether it can have one.
func parameterName(p Parameter) (name string, known bool) {
	switch p := p.(type) {
	case TextParam:
		return p.Name, true
	case Currency:
		return p.Name, true
	case DateTime:
		return p.Name, true
	default:
		return "", false
	}
}

func (p RawParameter) check(c *checks, path string) {
	c.rawObject(path+".JSON", p.JSON, func(value any) (any, fit) { return readParameter(value) })
}
