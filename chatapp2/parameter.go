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

// TextParam is a parameter whose value is a text. Name is the name of the parameter, empty if the parameters of the template
// have none.
type TextParam struct {
	Name string `rule:"name"`
	Text string `rule:"required"`
}

// Named returns a text for the parameter of that name.
func Named(name, text string) TextParam { return TextParam{Name: name, Text: text} }

// Currency is an amount of money in a body, shown in the recipient's own format, or as FallbackValue. Code is such as "USD".
type Currency struct {
	Name          string `json:"-" rule:"name"`
	FallbackValue string `json:"fallback_value,omitzero" rule:"required"`
	Code          string `json:"code,omitzero" rule:"required,currency"`
	// Amount1000 is the amount times 1000: 100.99 is 100990. Zero is an amount.
	Amount1000 int64 `json:"amount_1000"`
}

// DateTime is a date in a body. The platform shows only FallbackValue. Its examples also have the other fields, which are not checked;
// Calendar is such as "GREGORIAN".
type DateTime struct {
	Name          string `json:"-" rule:"name"`
	FallbackValue string `json:"fallback_value,omitzero" rule:"required"`
	DayOfWeek     int    `json:"day_of_week,omitzero"`
	Year          int    `json:"year,omitzero"`
	Month         int    `json:"month,omitzero"`
	DayOfMonth    int    `json:"day_of_month,omitzero"`
	// Hour and Minute are nil if absent; zero is midnight.
	Hour     *int   `json:"hour,omitzero"`
	Minute   *int   `json:"minute,omitzero"`
	Calendar string `json:"calendar,omitzero"`
}

// GIF is a silent, looping video in the header of a template, for marketing messages only.
type GIF struct {
	Media
}

// RawParameter is a parameter that no other type holds. JSON is the whole parameter, an object with a type, and is sent as it is.
type RawParameter struct {
	JSON json.RawMessage
}

// parameterJSON is a parameter or a header in the platform's shape: the member that Type names holds the value.
type parameterJSON struct {
	Type     string            `json:"type"`
	Name     string            `json:"parameter_name,omitzero"`
	Text     string            `json:"text,omitzero"`
	SubText  string            `json:"sub_text,omitzero"`
	Currency *Currency         `json:"currency,omitzero"`
	DateTime *DateTime         `json:"date_time,omitzero"`
	Image    *Image            `json:"image,omitzero"`
	Video    *Video            `json:"video,omitzero"`
	Document *Document         `json:"document,omitzero"`
	GIF      *GIF              `json:"gif,omitzero"`
	Location *templateLocation `json:"location,omitzero"`
	Product  *Product          `json:"product,omitzero"`
}

func (p TextParam) parameter() any { return parameterJSON{Type: "text", Name: p.Name, Text: p.Text} }

func (p Currency) parameter() any { return parameterJSON{Type: "currency", Name: p.Name, Currency: &p} }

func (p DateTime) parameter() any {
	return parameterJSON{Type: "date_time", Name: p.Name, DateTime: &p}
}
func (i Image) parameter() any        { return i.header() }
func (v Video) parameter() any        { return v.header() }
func (d Document) parameter() any     { return d.header() }
func (p GIF) parameter() any          { return parameterJSON{Type: "gif", GIF: &p} }
func (p Product) parameter() any      { return parameterJSON{Type: "product", Product: &p} }
func (p RawParameter) parameter() any { return p.JSON }

func (l Location) parameter() any {
	return parameterJSON{Type: "location", Location: (*templateLocation)(&l)}
}

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
	if b.Currency != nil {
		b.Currency.Name = b.Name // which is not a member of its own
	}
	if b.DateTime != nil {
		b.DateTime.Name = b.Name
	}
	parameter, _ := b.value().(Parameter)
	if parameter == nil {
		return nil, misfit
	}
	return parameter, f.exactIf(reflect.DeepEqual(parameter.parameter(), b))
}

// value returns the value of the parameter, nil if the type is not known.
func (b *parameterJSON) value() any {
	switch b.Type {
	case "text":
		return TextParam{b.Name, b.Text}
	case "currency":
		return valueOf(b.Currency)
	case "date_time":
		return valueOf(b.DateTime)
	case "image":
		return valueOf(b.Image)
	case "video":
		return valueOf(b.Video)
	case "document":
		return valueOf(b.Document)
	case "gif":
		return valueOf(b.GIF)
	case "location":
		return Location(valueOf(b.Location))
	case "product":
		return valueOf(b.Product)
	default:
		return nil
	}
}

// parameterName returns the name of a parameter of a body, and reports whether it can have one.
func parameterName(p Parameter) (name string, known bool) {
	switch p := p.(type) { //nolint:gochecksumtype // only these kinds are concerned
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

// countNames counts the parameters of a body or a text header that have a name, and those that have none.
func countNames(parameters ...Parameter) (named, unnamed int) {
	for _, parameter := range parameters {
		if name, known := parameterName(parameter); known && name != "" {
			named++
		} else if known {
			unnamed++
		}
	}
	return named, unnamed
}

func (p RawParameter) check(c *checks, path string) {
	c.rawObject(path+".JSON", p.JSON, func(value any) (any, fit) { return readParameter(value) })
}
