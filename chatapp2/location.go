package chatapp2

// Location shows a place on a map. It can also be a Parameter in the header of a template, which needs all four fields.
//
// The coordinates are numbers in a message and texts in a template, as in the platform's examples. Decoding takes both.
type Location struct {
	// Latitude and Longitude are in degrees, -90 to 90 and -180 to 180. Required; zero is the equator and the prime meridian.
	Latitude  float64 `json:"latitude" rule:"degrees=90"`
	Longitude float64 `json:"longitude" rule:"degrees=180"`
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
