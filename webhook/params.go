package webhook

// Param is one decoded parameter of a callback. Name and Value may both hold what a person wrote: a text that was not
// escaped is cut at each &, and what follows looks like a name.
type Param struct {
	Name  string `json:"name,omitzero"`
	Value string `json:"value,omitzero"`
}

// Params are the parameters of a callback in the order of their arrival, those of the query before those of a body, with
// every repetition and without secrets. Names and values are valid UTF-8.
type Params []Param

// Get returns the value of the first parameter of that name, or "". Names are case-sensitive.
func (p Params) Get(name string) string {
	for i := range p {
		if p[i].Name == name {
			return p[i].Value
		}
	}
	return ""
}

// All returns the values of all parameters of that name, in the order of their arrival.
func (p Params) All(name string) []string {
	var values []string
	for i := range p {
		if p[i].Name == name {
			values = append(values, p[i].Value)
		}
	}
	return values
}
