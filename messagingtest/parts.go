package messagingtest

import (
	"strings"
	"unicode/utf16"
)

// The alphabet of GSM 03.38. A character of the extension takes two places.
const (
	gsmBasic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡" +
		"ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmExtension = "\f^{}\\[~]|€"
)

// countParts is the number of parts in which a text travels. One part holds 160 characters of GSM-7 or 70 units of
// UTF-16; in a message of several parts, each holds 153 or 67. A character is not divided between parts.
func countParts(text string) int {
	if parts, ok := pack(text, 160, 153, gsmWidth); ok {
		return parts
	}
	parts, _ := pack(text, 70, 67, utf16.RuneLen)
	return parts
}

func gsmWidth(r rune) int {
	switch {
	case strings.ContainsRune(gsmBasic, r):
		return 1
	case strings.ContainsRune(gsmExtension, r):
		return 2
	default:
		return -1
	}
}

// pack fills parts one after the other. It reports false if a character has no width.
func pack(text string, single, several int, width func(rune) int) (parts int, ok bool) {
	total, used := 0, 0
	parts = 1
	for _, r := range text {
		w := width(r)
		if w < 0 {
			return 0, false
		}
		total += w
		if used+w > several {
			parts++
			used = 0
		}
		used += w
	}
	if total <= single {
		parts = 1
	}
	return parts, true
}
