// Package longflag lets the commands of this repository take long flags with one dash, as package flag does: -help is --help.
package longflag

import (
	"slices"
	"strings"
)

// WithTwoDashes returns args with two dashes before each long flag. Values of flags, and what follows --, stay as they are. find reports
// whether a name is one of a flag, and whether the flag needs a value.
func WithTwoDashes(args []string, find func(name string) (isFlag, needsValue bool)) []string {
	out := slices.Clone(args)
	for i := 0; i < len(out) && out[i] != "--"; i++ {
		word := strings.TrimLeft(out[i], "-")
		name, _, hasValue := strings.Cut(word, "=")
		if !strings.HasPrefix(out[i], "-") || len(name) < 2 {
			continue
		}
		isFlag, needsValue := find(name)
		if !isFlag {
			continue
		}
		out[i] = "--" + word
		if needsValue && !hasValue {
			i++ // its value
		}
	}
	return out
}
