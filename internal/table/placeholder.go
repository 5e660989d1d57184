package table

import "strings"

// IsPlaceholder reports whether an ID is none: blank, a word such as "none" or "null" in any case, zeros and hyphens alone, or a
// placeholder that nobody filled in, such as "%i".
func IsPlaceholder(id string) bool {
	id = strings.ToLower(strings.TrimSpace(id))
	switch id {
	case "none", "null", "nil", "undefined", "n/a":
		return true
	}
	if strings.Trim(id, "0-") == "" {
		return true
	}
	name, ok := strings.CutPrefix(id, "%")
	return ok && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz%") == ""
}
