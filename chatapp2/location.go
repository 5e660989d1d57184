package chatapp2

import (
	"fmt"
	"math"
	"strconv"
)

// Location shows a place on a map. It is also a Parameter of a template's header, which wants all four fields.
//
// In a message the coordinates are sent as numbers and in a template as texts, as the platform's examples have them; both are
// read.
type Location struct {
	// Latitude and Longitude are degrees, -90 to 90 and -180 to 180. Required; zero is the equator and the meridian of Greenwich.
	Latitude  float64
	Longitude float64
	// Name and Address are shown below the map. Optional.
	Name    string
	Address string

	noLatitude, noLongitude bool // a body that was read lacked them
}

type locationBody struct {
	Latitude  *float64 `json:"latitude,omitzero"`
	Longitude *float64 `json:"longitude,omitzero"`
	Name      string   `json:"name,omitzero"`
	Address   string   `json:"address,omitzero"`
}

func readLocation(value any) (Location, bool) {
	var b locationBody
	if !fill(value, &b) {
		return Location{}, false
	}
	l := Location{Name: b.Name, Address: b.Address, noLatitude: b.Latitude == nil, noLongitude: b.Longitude == nil}
	if b.Latitude != nil {
		l.Latitude = *b.Latitude
	}
	if b.Longitude != nil {
		l.Longitude = *b.Longitude
	}
	return l, true
}

func (Location) kind() string { return typeLocation }

func (l Location) content() any {
	b := locationBody{Name: l.Name, Address: l.Address}
	if !l.noLatitude {
		b.Latitude = &l.Latitude
	}
	if !l.noLongitude {
		b.Longitude = &l.Longitude
	}
	return b
}

// inTemplate is the location with its coordinates as texts.
func (l Location) inTemplate() any {
	b := struct {
		Latitude  string `json:"latitude,omitzero"`
		Longitude string `json:"longitude,omitzero"`
		Name      string `json:"name,omitzero"`
		Address   string `json:"address,omitzero"`
	}{Name: l.Name, Address: l.Address}
	if !l.noLatitude {
		b.Latitude = strconv.FormatFloat(l.Latitude, 'f', -1, 64)
	}
	if !l.noLongitude {
		b.Longitude = strconv.FormatFloat(l.Longitude, 'f', -1, 64)
	}
	return b
}

func (l Location) check(c *checks, path string) {
	degrees := func(field string, value, most float64, absent bool) {
		switch {
		case absent:
			c.found(path+field, "required, but absent")
		case math.IsNaN(value) || math.Abs(value) > most:
			c.found(path+field, fmt.Sprintf("want degrees from -%v to %v", most, most))
		}
	}
	degrees(".Latitude", l.Latitude, 90, l.noLatitude)
	degrees(".Longitude", l.Longitude, 180, l.noLongitude)
	c.text(path+".Name", l.Name, 0)
	c.text(path+".Address", l.Address, 0)
}
