package webhook

import (
	"fmt"
	"io"
	"log/slog"
)

// Param is one parameter of a callback, decoded. Both its name and its value may hold what a person wrote: a text that
// was not escaped is cut at each &, and what follows one stands as a name.
//
// Printed with package fmt or logged with log/slog it shows measures alone.
type Param struct {
	// Name is what stood before the first =, or the whole parameter where there was none.
	Name string
	// Value is what stood after it.
	Value string
}

// Params are the parameters of a callback in the order of their arrival, those of the query before those of a body, with
// every repetition. A parameter that WithSecret names is not among them. Both names and values are valid UTF-8.
//
// The zero value holds none. Printed with package fmt or logged with log/slog they show how many they are.
type Params []Param

// Get returns the value of the first parameter of that name, "" if there is none. Names are case-sensitive.
func (p Params) Get(name string) string {
	for i := range p {
		if p[i].Name == name {
			return p[i].Value
		}
	}
	return ""
}

// All returns the values of all parameters of that name, in the order of their arrival; nil if there is none.
func (p Params) All(name string) []string {
	var values []string
	for i := range p {
		if p[i].Name == name {
			values = append(values, p[i].Value)
		}
	}
	return values
}

// Format prints how long name and value are, in every verb.
func (p Param) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.summary()) }

// LogValue logs what Format prints.
func (p Param) LogValue() slog.Value { return slog.StringValue(p.summary()) }

func (p Param) summary() string {
	return newSummary("Param").measure("Name", p.Name).measure("Value", p.Value).String()
}

// Format prints how many parameters there are, in every verb.
func (p Params) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.summary()) }

// LogValue logs what Format prints.
func (p Params) LogValue() slog.Value { return slog.StringValue(p.summary()) }

func (p Params) summary() string { return fmt.Sprintf("webhook.Params{%d}", len(p)) }
