package chatapp2

import (
	"fmt"
	"math"
)

// Location shows a place on a map. It can also be a Parameter in the header of a template, which needs all four fields.
//
// The coordinates are numbers in a message and texts in a template, as in the platform's examples. Decoding takes both.
type Location struct {
	// Latitude and Longitude are in degrees, -90 to 90 and -180 to 180. Required; zero is the equator and the prime meridian.
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	// Name and Address are shown below the map. Optional.
	Name    string `json:"name,omitzero"`
	Address string `json:"address,omitzero"`
}

// templateLocation is a Location in a template.
type templateLocation struct {
	Latitude  float64 `json:"latitude,string"`
	Longitude float64 `json:"longitude,string"`
	Name      string  `json:"name,omitzero"`
	Address   string  `json:"address,omitzero"`
}

func (l Location) check(c *checks, path string) {
	for _, degrees := range []struct {
		field       string
		value, most float64
	}{
		{".Latitude", l.Latitude, 90},
		{".Longitude", l.Longitude, 180},
	} {
		if math.IsNaN(degrees.value) || math.Abs(degrees.value) > degrees.most {
			c.Found(path+degrees.field, fmt.Sprintf("want degrees from -%v to %v", degrees.most, degrees.most))
		}
	}
}
