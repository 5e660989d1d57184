package chatapp2

import (
	"encoding/json"

	"github.com/messaging-service/messaging-go/internal/shape"
)

// Parameter is the value of a parameter of a Template. In a body it is one of TextParam, Currency, DateTime and RawParameter; in a header
// one of TextParam, Image, Video, Document, GIF, Location, Product and RawParameter. Pass values, not pointers.
//
//sumtype:decl
type Parameter interface{ parameter() place }

func (TextParam) parameter() place    { return placeOf("type=text", "") }
func (Currency) parameter() place     { return placeOf("type=currency", "") }
func (DateTime) parameter() place     { return placeOf("type=date_time", "") }
func (Image) parameter() place        { return placeOf("type=image", "image!") }
func (Video) parameter() place        { return placeOf("type=video", "video!") }
func (Document) parameter() place     { return placeOf("type=document", "document!") }
func (GIF) parameter() place          { return placeOf("type=gif", "gif!") }
func (Location) parameter() place     { return placeOf("type=location", "location!,text") }
func (Product) parameter() place      { return placeOf("type=product", "product!") }
func (RawParameter) parameter() place { return place{} }

// TextParam is a parameter whose value is text. Name is the name of the parameter. It is empty if the template numbers its parameters
// instead of naming them.
type TextParam struct {
	Name string `at:"parameter_name,name,unique"`
	Text string `at:"text,required"`
}

// Named returns a TextParam for the parameter with this name.
func Named(name, text string) TextParam { return TextParam{Name: name, Text: text} }

// Currency is an amount of money in a body. The recipient sees it in their own format, or sees FallbackValue.
type Currency struct {
	Name          string `at:"parameter_name,name,unique"`
	FallbackValue string `at:"currency.fallback_value,required"`
	// Code is an ISO 4217 code, such as "USD".
	Code string `at:"currency.code,required,currency"`
	// Amount1000 is the amount times 1000: 100.99 is 100990. Zero is an amount.
	Amount1000 int64 `at:"currency.amount_1000!"`
}

// DateTime is a date in a body. The platform shows only FallbackValue. The other fields appear in its examples and are not checked.
type DateTime struct {
	Name          string `at:"parameter_name,name,unique"`
	FallbackValue string `at:"date_time!.fallback_value,required"`
	DayOfWeek     int    `at:"date_time.day_of_week"`
	Year          int    `at:"date_time.year"`
	Month         int    `at:"date_time.month"`
	DayOfMonth    int    `at:"date_time.day_of_month"`
	// Hour and Minute are nil if absent; zero is midnight.
	Hour   *int `at:"date_time.hour"`
	Minute *int `at:"date_time.minute"`
	// Calendar is a word such as "GREGORIAN".
	Calendar string `at:"date_time.calendar"`
}

// GIF is a silent, looping video in the header of a marketing template.
type GIF struct {
	Media
}

// RawParameter is a parameter that no other type holds. JSON is the whole parameter: an object with a type, sent as it is.
type RawParameter struct {
	JSON json.RawMessage `at:""`
}

func (p RawParameter) check(c *checks) {
	shape.CheckRawObject[Parameter](c, p.JSON)
}

// nameCount counts parameters by whether they have a name. Parameters that cannot have one are left out.
type nameCount struct{ named, unnamed int }

func countNames(parameters ...Parameter) nameCount {
	var count nameCount
	for _, parameter := range parameters {
		var name string
		switch p := parameter.(type) { //nolint:gochecksumtype // the others have no names
		case TextParam:
			name = p.Name
		case Currency:
			name = p.Name
		case DateTime:
			name = p.Name
		default:
			continue
		}
		if name == "" {
			count.unnamed++
		} else {
			count.named++
		}
	}
	return count
}
