package table

import "strings"

// Number returns a phone number as it is dialled. Of a tel URL (RFC 3966), such as tel:+639171234567;ext=1, that is what stands
// between the scheme and the parameters; any other text is returned as it is.
func Number(text string) string {
	const scheme = "tel:"
	trimmed := strings.TrimSpace(text)
	if len(trimmed) <= len(scheme) || !strings.EqualFold(trimmed[:len(scheme)], scheme) {
		return text
	}
	number, _, _ := strings.Cut(trimmed[len(scheme):], ";")
	return strings.TrimSpace(number)
}
