package chatapp2

import (
	"encoding/json"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Parameter fills a gap of a Template. In a body it is one of TextParam, Currency, DateTime and RawParameter; in a header one of
// TextParam, Image, Video, Document, GIF, Location, Product and RawParameter. Nothing else can be one.
//
//sumtype:decl
type Parameter interface {
	// parameter is what encoding/json takes.
	parameter() any
	fits() fit
	check(c *checks, path string)
}

// fit is where a parameter can stand, the name that it bears, and of what kind it is.
type fit struct {
	header, card, body bool // card is the header of a card
	name, kind         string
}

// TextParam fills a gap with a text.
type TextParam struct {
	// Name (parameter_name) is the gap's own, of lower-case letters, digits and underscores, where the template was made with names; else empty.
	Name string
	// Text is required.
	Text string
}

// Named fills the gap of that name with a text.
func Named(name, text string) TextParam { return TextParam{Name: name, Text: text} }

// Currency fills a gap of a body with an amount of money, in the recipient's own form.
type Currency struct {
	// Name is as in TextParam.
	Name string
	// FallbackValue (fallback_value) is shown where the amount cannot be put into the recipient's form. Required.
	FallbackValue string
	// Code is an ISO 4217 code, such as "USD". Required.
	Code string
	// Amount1000 (amount_1000) is the amount by 1000: 100.99 is 100990. Zero is an amount.
	Amount1000 int64

	noAmount bool // a body that was read lacked it
}

// DateTime fills a gap of a body with a date. The platform shows FallbackValue alone; the rest is met in its examples.
type DateTime struct {
	// Name is as in TextParam.
	Name string
	// FallbackValue (fallback_value) is shown. Required.
	FallbackValue string
	// DayOfWeek (day_of_week), Year, Month and DayOfMonth (day_of_month) are not checked; zero is absent.
	DayOfWeek  int
	Year       int
	Month      int
	DayOfMonth int
	// Hour and Minute are nil where there is none: zero is midnight.
	Hour   *int
	Minute *int
	// Calendar is such as "GREGORIAN".
	Calendar string
}

// GIF is a silent video that repeats, in the header of a template. Marketing messages alone take it.
type GIF struct {
	Media
}

// RawParameter is a parameter that this library does not know, or that no type holds. Of a type that it knows, it checks what it
// knows, and what it finds passes a limit. Of any other nothing is checked but that it is an object with a type.
type RawParameter struct {
	// JSON is the whole parameter. Required.
	JSON json.RawMessage
}

// parameterShape is a parameter of a template on the wire.
type parameterShape struct {
	Type     string        `json:"type"`
	Name     string        `json:"parameter_name,omitzero"`
	Text     string        `json:"text,omitzero"`
	Currency *currencyBody `json:"currency,omitzero"`
	DateTime *dateTimeBody `json:"date_time,omitzero"`
}

type currencyBody struct {
	FallbackValue string `json:"fallback_value,omitzero"`
	Code          string `json:"code,omitzero"`
	Amount1000    *int64 `json:"amount_1000,omitzero"`
}

type dateTimeBody struct {
	FallbackValue string `json:"fallback_value,omitzero"`
	DayOfWeek     int    `json:"day_of_week,omitzero"`
	Year          int    `json:"year,omitzero"`
	Month         int    `json:"month,omitzero"`
	DayOfMonth    int    `json:"day_of_month,omitzero"`
	Hour          *int   `json:"hour,omitzero"`
	Minute        *int   `json:"minute,omitzero"`
	Calendar      string `json:"calendar,omitzero"`
}

const (
	parameterCurrency = "currency"
	parameterDateTime = "date_time"
	parameterGIF      = "gif"
	parameterProduct  = "product"
)

func parametersOf(parameters []Parameter) []any {
	if parameters == nil {
		return nil
	}
	all := make([]any, len(parameters))
	for i, parameter := range parameters {
		if !wire.IsNil(parameter) {
			all[i] = parameter.parameter()
		}
	}
	return all
}

func (p TextParam) parameter() any { return parameterShape{Type: "text", Name: p.Name, Text: p.Text} }

func (p Currency) parameter() any {
	b := &currencyBody{FallbackValue: p.FallbackValue, Code: p.Code}
	if !p.noAmount {
		b.Amount1000 = &p.Amount1000
	}
	return parameterShape{Type: parameterCurrency, Name: p.Name, Currency: b}
}

func (p DateTime) parameter() any {
	return parameterShape{Type: parameterDateTime, Name: p.Name, DateTime: &dateTimeBody{
		p.FallbackValue, p.DayOfWeek, p.Year, p.Month, p.DayOfMonth, p.Hour, p.Minute, p.Calendar,
	}}
}

func (i Image) parameter() any    { return typed{typeImage, i} }
func (v Video) parameter() any    { return typed{typeVideo, v} }
func (d Document) parameter() any { return typed{typeDocument, d} }
func (p GIF) parameter() any      { return typed{parameterGIF, p} }
func (l Location) parameter() any { return typed{typeLocation, l.inTemplate()} }
func (p Product) parameter() any  { return typed{parameterProduct, p} }

func (p RawParameter) parameter() any {
	if p.JSON == nil {
		return nil
	}
	return p.JSON
}

func readParameters(values []any) []Parameter {
	if values == nil {
		return nil
	}
	all := make([]Parameter, len(values))
	for i, value := range values {
		all[i] = readParameter(value)
	}
	return all
}

// readParameter gives a parameter, typed where that holds all of it.
func readParameter(value any) Parameter {
	m := membersOf(value)
	if parameter := readKnownParameter(m); parameter != nil && value != nil && m.whole() {
		return parameter
	}
	return RawParameter{JSON: rawOf(value)}
}

func readKnownParameter(m *members) Parameter {
	switch kind := m.word("type"); kind {
	case "text":
		var p TextParam
		m.into("parameter_name", &p.Name)
		m.into(kind, &p.Text)
		return p
	case parameterCurrency:
		var p Currency
		var b currencyBody
		m.into("parameter_name", &p.Name)
		m.into(kind, &b)
		p.FallbackValue, p.Code, p.noAmount = b.FallbackValue, b.Code, b.Amount1000 == nil
		if b.Amount1000 != nil {
			p.Amount1000 = *b.Amount1000
		}
		return p
	case parameterDateTime:
		var name string
		var b dateTimeBody
		m.into("parameter_name", &name)
		m.into(kind, &b)
		return DateTime{name, b.FallbackValue, b.DayOfWeek, b.Year, b.Month, b.DayOfMonth, b.Hour, b.Minute, b.Calendar}
	case typeImage:
		return readMedium[Image](m, kind)
	case typeVideo:
		return readMedium[Video](m, kind)
	case typeDocument:
		return readMedium[Document](m, kind)
	case parameterGIF:
		return readMedium[GIF](m, kind)
	case parameterProduct:
		return readMedium[Product](m, kind)
	case typeLocation:
		l, ok := readLocation(m.take(kind))
		m.failed = m.failed || !ok
		return l
	default:
		return nil
	}
}

// readMedium reads a parameter whose fields and tags are its shape on the wire.
func readMedium[T Parameter](m *members, kind string) Parameter {
	var parameter T
	m.into(kind, &parameter)
	return parameter
}

func (p TextParam) fits() fit  { return fit{header: true, body: true, name: p.Name, kind: "text"} }
func (p Currency) fits() fit   { return fit{body: true, name: p.Name} }
func (p DateTime) fits() fit   { return fit{body: true, name: p.Name} }
func (Image) fits() fit        { return fit{header: true, card: true, kind: typeImage} }
func (Video) fits() fit        { return fit{header: true, card: true, kind: typeVideo} }
func (Document) fits() fit     { return fit{header: true, kind: typeDocument} }
func (GIF) fits() fit          { return fit{header: true, kind: parameterGIF} }
func (Location) fits() fit     { return fit{header: true, kind: typeLocation} }
func (Product) fits() fit      { return fit{header: true, card: true, kind: parameterProduct} }
func (RawParameter) fits() fit { return fit{header: true, card: true, body: true} }

func checkName(c *checks, path, name string) {
	c.text(path+".Name", name, 0)
	c.word(path+".Name", name)
}

func (p TextParam) check(c *checks, path string) {
	checkName(c, path, p.Name)
	c.required(path+".Text", p.Text, 0)
}

func (p Currency) check(c *checks, path string) {
	checkName(c, path, p.Name)
	c.required(path+".FallbackValue", p.FallbackValue, 0)
	c.required(path+".Code", p.Code, 0)
	checkCurrency(c, path+".Code", p.Code)
	if p.noAmount {
		c.found(path+".Amount1000", "required, but absent")
	}
}

func (p DateTime) check(c *checks, path string) {
	checkName(c, path, p.Name)
	c.required(path+".FallbackValue", p.FallbackValue, 0)
	c.text(path+".Calendar", p.Calendar, 0)
}

func (p GIF) check(c *checks, path string) { p.Media.check(c, path) }

func (p RawParameter) check(c *checks, path string) {
	if !checkRaw(c, path+".JSON", p.JSON) {
		return
	}
	if membersOf(decode(p.JSON)).word("type") == "" {
		c.found(path+".JSON", "want an object with a type")
		return
	}
	m := membersOf(opened(decode(p.JSON)))
	switch parameter := readKnownParameter(m); {
	case parameter == nil:
	case m.whole():
		c.asLimits(func(known *checks) { parameter.check(known, path) })
	default:
		c.unlikeDocumented(path + ".JSON")
	}
}
