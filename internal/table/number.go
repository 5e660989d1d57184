package table

import "strings"

// Number returns the number of a tel URL (RFC 3966), such as tel:+639171234567;ext=1, without the scheme and the parameters. It returns any
// other text unchanged.
func Number(text string) string {
	if !IsTel(text) {
		return text
	}
	number, _, _ := strings.Cut(strings.TrimSpace(text)[len(telScheme):], ";")
	return strings.TrimSpace(number)
}

const telScheme = "tel:"

// IsTel reports whether a text is a tel URL with a number.
func IsTel(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) > len(telScheme) && strings.EqualFold(text[:len(telScheme)], telScheme)
}
