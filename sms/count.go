package sms

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"unicode/utf16"
)

// How many units a segment holds: one message holds 140 bytes, and where a text is cut into several, each of them
// gives 6 bytes to the header by which the phone puts them together again. 3GPP TS 23.040, 9.2.3.24.1.
const (
	gsm7Alone, gsm7Part = 160, 153
	ucs2Alone, ucs2Part = 70, 67
)

// Segmentation says how a text is cut into SMS. Count makes it. It is plain data: a copy shares NotGSM7.
//
// Printed with package fmt or logged with log/slog it shows measures, not the characters in NotGSM7.
type Segmentation struct {
	// Encoding is what the text takes: GSM7 where all of its characters are in the GSM alphabet, else UCS2.
	Encoding Encoding
	// Segments is how many SMS the text is cut into: 0 for the empty text. The standard's header counts to 255; a text
	// of more segments cannot be sent as one message, and Segments says how many it would take.
	Segments int
	// Units is the length of the text in what the encoding counts. Under GSM7 these are septets: one for a character
	// of the default alphabet, two for one of the extension table. Under UCS2 they are UTF-16 code units: one for most
	// characters, two for those above U+FFFF, such as most emoji. What is left free at the end of a segment, because a
	// character of two units did not fit, is not counted.
	Units int
	// Remaining is how many units are free in the last segment, so how many characters of one unit can be appended at
	// no further cost. It is at most 159 under GSM7 and 69 under UCS2, after the first segment 152 and 66. The empty
	// text, which has no segment yet, has 160. A character of two units starts a new segment where Remaining is below 2, and
	// under GSM7 one from outside the alphabet changes the encoding and with it all the numbers.
	Remaining int
	// NotGSM7 lists the characters that are not in the GSM alphabet, so those that cost the text its cheaper encoding:
	// each once, in the order in which they first occur. It is nil under GSM7 and never empty under UCS2. Without
	// them, the rest of the text would be GSM7. It has at most as many entries as the text has distinct characters.
	NotGSM7 []Character
}

// Character is a character of a text, with the place where the text first has it.
type Character struct {
	// Rune is the character; U+FFFD also stands for a byte that is not UTF-8.
	Rune rune
	// Position is how many characters come before it, each counted as one: what a person would count, except for combined
	// ones, such as a letter with an accent of its own or an emoji made of several.
	Position int
	// Offset is how many bytes come before it: text[Offset:] starts with it.
	Offset int
}

// Encoding is how the characters of an SMS are written on the air. The zero value is GSM7.
type Encoding uint8

const (
	// GSM7 is the GSM 7-bit default alphabet with its extension table: 160 septets in one SMS, 153 in each of several.
	GSM7 Encoding = iota
	// UCS2 is 16 bits a unit, for any character of Unicode: 70 units in one SMS, 67 in each of several.
	UCS2
)

// String gives the encoding's usual name, "GSM-7" or "UCS-2".
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

// Count says how many SMS a text takes, in which encoding, and which of its characters are to blame where that is not
// GSM-7. It sends nothing, asks nobody and is a pure function: safe for concurrent use, linear in the length of the
// text, and free of allocations where the text is GSM-7.
//
// The result is an estimate. Count follows 3GPP TS 23.038 (once GSM 03.38) and TS 23.040: the default alphabet and its
// extension table (€ [ ] { } ~ ^ | \ and form feed), no national language shift tables, concatenation with a reference
// of 8 bits, and no character cut in two: the two septets of an extended character and a surrogate pair stay in one
// segment. The service's specification says nothing of how it encodes. It may know shift tables, replace characters by
// similar ones, or use a longer reference (then a part holds 152 or 66 units). What it counted is in Receipt.Parts.
//
// A character is a code point, as the text has it: nothing is normalized or replaced. So é is GSM-7, but e followed by a
// combining accent is not; a line break as \r\n is two characters, as \n one. Control characters other than those
// two and form feed are not in the alphabet: the escape of the extension table, U+001B, is no character of its own.
//
// Each byte that is not UTF-8 counts as one U+FFFD, which makes the text UCS-2. Send refuses such a text.
func Count(text string) Segmentation {
	fill := filling{alone: gsm7Alone, part: gsm7Part}
	for _, r := range text {
		width := septets(r)
		if width == 0 {
			return countUCS2(text)
		}
		fill.add(width)
	}
	return fill.segmentation(GSM7)
}

func countUCS2(text string) Segmentation {
	fill := filling{alone: ucs2Alone, part: ucs2Part}
	var found []Character
	seen := make(map[rune]struct{})
	position := 0
	for offset, r := range text {
		fill.add(utf16.RuneLen(r))
		if septets(r) == 0 {
			if _, again := seen[r]; !again {
				seen[r] = struct{}{}
				found = append(found, Character{Rune: r, Position: position, Offset: offset})
			}
		}
		position++
	}
	s := fill.segmentation(UCS2)
	s.NotGSM7 = found
	return s
}

// filling fills the segments of a text, as if it took several: whether it does is known only at its end, and a text
// that turns out to fit into one needs nothing but its length.
type filling struct {
	alone, part int // what a segment holds
	units       int // of the text so far
	full        int // segments before the last
	used        int // units in the last
}

func (f *filling) add(width int) {
	f.units += width
	if f.used += width; f.used > f.part {
		f.full, f.used = f.full+1, width
	}
}

func (f *filling) segmentation(encoding Encoding) Segmentation {
	s := Segmentation{Encoding: encoding, Units: f.units}
	switch {
	case f.units > f.alone:
		s.Segments, s.Remaining = f.full+1, f.part-f.used
	case f.units > 0:
		s.Segments, s.Remaining = 1, f.alone-f.units
	default:
		s.Remaining = f.alone
	}
	return s
}

// septets tells how many a character takes in the GSM alphabet: 1 in the default one, 2 in the extension table, 0 if it
// is in neither. 3GPP TS 23.038, 6.2.1.
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

// Format prints the measures, and how many characters NotGSM7 lists, in every verb.
func (s Segmentation) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.summary()) }

// LogValue logs what Format prints.
func (s Segmentation) LogValue() slog.Value { return slog.StringValue(s.summary()) }

func (s Segmentation) summary() string {
	return fmt.Sprintf("sms.Segmentation{Encoding: %v, Segments: %d, Units: %d, Remaining: %d, NotGSM7: %d characters}",
		s.Encoding, s.Segments, s.Units, s.Remaining, len(s.NotGSM7))
}
