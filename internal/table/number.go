package table

import "strings"

// Number returns a phone number as it is dialled. Of a tel URL (RFC 3966), such as tel:+639171234567;ext=1, that is what stands
// between the scheme and the parameters; any other text is returned as it is.
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
