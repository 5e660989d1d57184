package table

import "strings"

// IsPlaceholder reports whether an ID is none: blank, a word such as "none" or "null" in any case, zeros and hyphens alone, or
// a placeholder that was not filled in, such as "%i".
func IsPlaceholder(id string) bool {
	id = strings.TrimSpace(id)
	for _, word := range [...]string{"none", "null", "nil", "undefined", "n/a"} {
		if strings.EqualFold(id, word) {
			return true
		}
	}
	if name, ok := strings.CutPrefix(id, "%"); ok {
		return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%") == ""
	}
	return strings.Trim(id, "0-") == ""
}
