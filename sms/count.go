package sms

import (
	"strconv"
	"unicode/utf16"
)

// Units per segment. A segment holds 140 bytes; each part of a longer text spends 6 of them on the header by which the phone
// joins the parts. 3GPP TS 23.040, 9.2.3.24.1.
const (
	gsm7Single, gsm7Part = 160, 153
	ucs2Single, ucs2Part = 70, 67
)

// Segmentation is how a text is split into SMS. Count returns it.
type Segmentation struct {
	// Encoding is GSM7 if all characters of the text are in the GSM alphabet, and UCS2 otherwise.
	Encoding Encoding
	// Segments is the number of SMS: 0 for the empty text. A text of more than 255 segments cannot be sent as one message.
	Segments int
	// Units is the length of the text: septets for GSM7 (two for a character of the extension table), UTF-16 code units for
	// UCS2 (two for a character above U+FFFF, such as most emoji).
	Units int
	// Remaining is the number of units free in the last segment: how many characters of one unit can be appended at no further
	// cost. It is at most 159 for GSM7 and 69 for UCS2, and 152 and 66 after the first segment. The empty text has 160.
	Remaining int
	// NotGSM7 lists the characters that are not in the GSM alphabet, each once, in order of appearance. Without them the text
	// would be GSM7. It is nil for GSM7.
	NotGSM7 []Character
}

// Character is a character of a text and the place where it first appears.
type Character struct {
	// Rune is the character. It is U+FFFD for a byte that is not UTF-8.
	Rune rune
	// Position is the number of characters (code points) before it.
	Position int
	// Offset is the number of bytes before it: text[Offset:] begins with it.
	Offset int
}

// Encoding is how the characters of an SMS are transmitted. The zero value is GSM7.
type Encoding uint8

const (
	// GSM7 is the GSM 7-bit default alphabet with its extension table: 160 septets in a single SMS, 153 in each of several.
	GSM7 Encoding = iota
	// UCS2 holds any Unicode character: 70 UTF-16 code units in a single SMS, 67 in each of several.
	UCS2
)

// String returns the encoding's usual name, "GSM-7" or "UCS-2".
func (e Encoding) String() string {
	switch e {
	case GSM7:
		return "GSM-7"
	case UCS2:
		return "UCS-2"
	default:
		return "sms.Encoding(" + strconv.Itoa(int(e)) + ")"
	}
}

// Count returns how many SMS a text takes, in which encoding, and which characters rule out the cheaper encoding. It does not allocate for
// GSM7.
//
// The result is an estimate. Count follows 3GPP TS 23.038 and TS 23.040, without national language shift tables, with an 8-bit
// concatenation reference, and with no character split between segments. The service may do otherwise: Receipt.Parts is what it charged.
//
// A character is a code point; nothing is normalized. So é is GSM-7, and e followed by a combining accent is not. A byte that is not UTF-8
// counts as U+FFFD, which makes the text UCS-2.
func Count(text string) Segmentation {
	counter := segmentCounter{single: gsm7Single, part: gsm7Part}
	for _, r := range text {
		width := septets(r)
		if width == 0 {
			return countUCS2(text)
		}
		counter.add(width)
	}
	return counter.segmentation(GSM7)
}

func countUCS2(text string) Segmentation {
	counter := segmentCounter{single: ucs2Single, part: ucs2Part}
	var found []Character
	seen := make(map[rune]struct{})
	position := 0
	for offset, r := range text {
		counter.add(utf16.RuneLen(r))
		if septets(r) == 0 {
			if _, isKnown := seen[r]; !isKnown {
				seen[r] = struct{}{}
				found = append(found, Character{Rune: r, Position: position, Offset: offset})
			}
		}
		position++
	}
	s := counter.segmentation(UCS2)
	s.NotGSM7 = found
	return s
}

// segmentCounter counts the segments of a text as if it had several. The method segmentation corrects the result for a text that fits
// into one.
type segmentCounter struct {
	single int // units of a segment that is the whole text
	part   int // units of a segment that is one of several
	units  int // of the text so far
	full   int // segments before the last
	used   int // units in the last segment
}

func (c *segmentCounter) add(width int) {
	c.units += width
	c.used += width
	if c.used > c.part {
		c.full++
		c.used = width
	}
}

func (c *segmentCounter) segmentation(encoding Encoding) Segmentation {
	s := Segmentation{Encoding: encoding, Units: c.units}
	switch {
	case c.units > c.single:
		s.Segments = c.full + 1
		s.Remaining = c.part - c.used
	case c.units > 0:
		s.Segments = 1
		s.Remaining = c.single - c.units
	default:
		s.Remaining = c.single
	}
	return s
}

// septets returns how many septets a character takes: 1 in the GSM default alphabet, 2 in its extension table, 0 if it is in
// neither. 3GPP TS 23.038, 6.2.1.
func septets(r rune) int {
	switch {
	case r >= ' ' && r <= 'Z', r >= 'a' && r <= 'z', r == '\n', r == '\r', r == '_':
		return 1
	}
	switch r {
	case '£', '¥', '¤', '§', '¡', '¿',
		'Ä', 'Å', 'Æ', 'Ç', 'É', 'Ñ', 'Ö', 'Ø', 'Ü', 'ß',
		'à', 'ä', 'å', 'æ', 'è', 'é', 'ì', 'ñ', 'ò', 'ö', 'ø', 'ù', 'ü',
		'Γ', 'Δ', 'Θ', 'Λ', 'Ξ', 'Π', 'Σ', 'Φ', 'Ψ', 'Ω':
		return 1
	case '\f', '[', '\\', ']', '^', '{', '|', '}', '~', '€':
		return 2
	default:
		return 0
	}
}
