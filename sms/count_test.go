package sms_test

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/sms"
)

// The alphabet by the columns of the standard's table, where the code under test goes by Unicode. The escape, which
// stands between Ξ and Æ, is left out: it is no character.
const (
	gsm7Default = "@£$¥èéùìòÇ\nØø\rÅå" + "Δ_ΦΓΛΩΠΨΣΘΞÆæßÉ" + " !\"#¤%&'()*+,-./" + "0123456789:;<=>?" +
		"¡ABCDEFGHIJKLMNO" + "PQRSTUVWXYZÄÖÑÜ§" + "¿abcdefghijklmno" + "pqrstuvwxyzäöñüà"
	gsm7Extension = "\f^{}\\[~]|€"
)

func times(n int, s string) string { return strings.Repeat(s, n) }

func TestCount(t *testing.T) {
	t.Parallel()
	const family = "👨‍👩‍👧‍👦" // four emoji and three joiners: 11 units
	for _, tt := range []struct {
		name      string
		text      string
		encoding  sms.Encoding
		segments  int
		units     int
		remaining int
	}{
		{"empty", "", sms.GSM7, 0, 0, 160},
		{"one letter", "a", sms.GSM7, 1, 1, 159},
		{"one short of a segment", times(159, "a"), sms.GSM7, 1, 159, 1},
		{"a full segment", times(160, "a"), sms.GSM7, 1, 160, 0},
		{"one more than a segment", times(161, "a"), sms.GSM7, 2, 161, 145},
		{"two full parts", times(306, "a"), sms.GSM7, 2, 306, 0},
		{"one more than two parts", times(307, "a"), sms.GSM7, 3, 307, 152},
		{"as many parts as the header counts", times(39015, "a"), sms.GSM7, 255, 39015, 0},
		{"more parts than the header counts", times(39016, "a"), sms.GSM7, 256, 39016, 152},

		{"one extended", "€", sms.GSM7, 1, 2, 158},
		{"a full segment, extended", times(80, "€"), sms.GSM7, 1, 160, 0},
		{"one extended more: 76 pairs fill 152 of 153", times(81, "€"), sms.GSM7, 2, 162, 143},
		{"two parts of 76 pairs", times(152, "€"), sms.GSM7, 2, 304, 1},
		{"the pair that would fit into what two parts leave", times(153, "€"), sms.GSM7, 3, 306, 151},
		{"a pair that would not fit alone", times(159, "a") + "€", sms.GSM7, 2, 161, 145},
		{"a pair across the boundary", times(152, "a") + "€" + times(7, "a"), sms.GSM7, 2, 161, 144},
		{"a pair just before the boundary", times(151, "a") + "€" + times(8, "a"), sms.GSM7, 2, 161, 145},
		{"a pair just after the boundary", times(153, "a") + "€" + times(6, "a"), sms.GSM7, 2, 161, 145},
		{"a pair across the boundary of what fits into one", times(152, "a") + "€" + times(6, "a"), sms.GSM7, 1, 160, 0},
		{"a pair across the boundary costs a segment", times(152, "a") + "€" + times(152, "a"), sms.GSM7, 3, 306, 152},
		{"no pair, no third segment", times(151, "a") + "€" + times(153, "a"), sms.GSM7, 2, 306, 0},

		{"one Cyrillic", "ы", sms.UCS2, 1, 1, 69},
		{"a full segment, Cyrillic", times(70, "ы"), sms.UCS2, 1, 70, 0},
		{"one more Cyrillic", times(71, "ы"), sms.UCS2, 2, 71, 63},
		{"two full parts, Cyrillic", times(134, "ы"), sms.UCS2, 2, 134, 0},
		{"one more than two parts, Cyrillic", times(135, "ы"), sms.UCS2, 3, 135, 66},
		{"a full segment, emoji", times(35, "😀"), sms.UCS2, 1, 70, 0},
		{"one emoji more: 33 pairs fill 66 of 67", times(36, "😀"), sms.UCS2, 2, 72, 61},
		{"a pair across the boundary, Cyrillic", times(66, "ы") + "😀" + times(3, "ы"), sms.UCS2, 2, 71, 62},
		{"a pair just before the boundary, Cyrillic", times(65, "ы") + "😀" + times(4, "ы"), sms.UCS2, 2, 71, 63},
		{"a surrogate pair across the boundary of what fits into one", times(66, "ы") + "😀" + "ыы", sms.UCS2, 1, 70, 0},
		{"a surrogate pair across the boundary costs a segment", times(66, "ы") + "😀" + times(66, "ы"), sms.UCS2, 3, 134, 66},
		{"letters count as UTF-16 once one character is not GSM-7", times(70, "a") + "ы", sms.UCS2, 2, 71, 63},
		{"an extended character is one unit of UTF-16", times(69, "€") + "ы", sms.UCS2, 1, 70, 0},
		{"a combined emoji", family, sms.UCS2, 1, 11, 59},
		{"a combined emoji across the boundary is cut between its parts", "ыыыыы" + times(6, family), sms.UCS2, 2, 71, 62},
		{"a flag", "🇵🇭", sms.UCS2, 1, 4, 66},
		{"a keycap", "1️⃣", sms.UCS2, 1, 3, 67},

		{"an accent of the alphabet", "é", sms.GSM7, 1, 1, 159},
		{"the same accent, combining", "e\u0301", sms.UCS2, 1, 2, 68},
		{"only the capital is in the alphabet", "ç", sms.UCS2, 1, 1, 69},
		{"ohm sign, not omega", "\u2126", sms.UCS2, 1, 1, 69},
		{"no-break space", "\u00a0", sms.UCS2, 1, 1, 69},
		{"backquote", "`", sms.UCS2, 1, 1, 69},
		{"\\n", "\n", sms.GSM7, 1, 1, 159},
		{"\\r\\n", "\r\n", sms.GSM7, 1, 2, 158},
		{"form feed is extended", "\f", sms.GSM7, 1, 2, 158},
		{"tab", "\t", sms.UCS2, 1, 1, 69},
		{"NUL", "\x00", sms.UCS2, 1, 1, 69},
		{"escape", "\x1b", sms.UCS2, 1, 1, 69},
		{"escape before a letter is no euro sign", "\x1be", sms.UCS2, 1, 2, 68},
		{"byte order mark", "\ufeffa", sms.UCS2, 1, 2, 68},
		{"a byte that is not UTF-8", "a\xffb", sms.UCS2, 1, 3, 67},
		{"each byte of a cut character", "\xf0\x9f\x98", sms.UCS2, 1, 3, 67},
		{"a surrogate in UTF-8 is three wrong bytes", "\xed\xa0\x80", sms.UCS2, 1, 3, 67},
		{"the highest character", "\U0010ffff", sms.UCS2, 1, 2, 68},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := sms.Count(tt.text)
			assert.Equal(t, tt.encoding, got.Encoding, "encoding")
			assert.Equal(t, tt.segments, got.Segments, "segments")
			assert.Equal(t, tt.units, got.Units, "units")
			assert.Equal(t, tt.remaining, got.Remaining, "remaining")
			assert.Equal(t, tt.encoding == sms.GSM7, got.NotGSM7 == nil, "NotGSM7: %v", got.NotGSM7)
		})
	}
}

func TestCountAlphabet(t *testing.T) {
	t.Parallel()
	require.Equal(t, 127, utf8.RuneCountInString(gsm7Default))
	require.Equal(t, 10, utf8.RuneCountInString(gsm7Extension))
	extended := 0
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if utf16.IsSurrogate(r) {
			continue
		}
		text := string(r)
		want := sms.Segmentation{Encoding: sms.UCS2, Segments: 1, Units: 1, Remaining: 69, NotGSM7: []sms.Character{{Rune: r}}}
		switch {
		case strings.ContainsRune(gsm7Default, r):
			want = sms.Segmentation{Segments: 1, Units: 1, Remaining: 159}
		case strings.ContainsRune(gsm7Extension, r):
			want = sms.Segmentation{Segments: 1, Units: 2, Remaining: 158}
			extended++
		case r > 0xffff:
			want.Units, want.Remaining = 2, 68
		}
		if got := sms.Count(text); !same(got, want) {
			t.Fatalf("%U: %v %v, want %v", r, got, got.NotGSM7, want)
		}
	}
	assert.Equal(t, 10, extended)
}

func TestCountNotGSM7(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		text string
		want []sms.Character
	}{
		{"none in a text of the alphabet", "Grüße, 5 €", nil},
		{"first, with the offset in bytes", "5 € – ок", []sms.Character{{'–', 4, 6}, {'о', 6, 10}, {'к', 7, 12}}},
		{"repeated", "ыaыяыя", []sms.Character{{'ы', 0, 0}, {'я', 3, 5}}},
		{"outside the basic plane", "a😀b😀ё", []sms.Character{{'😀', 1, 1}, {'ё', 4, 10}}},
		{"a combined emoji by its parts", "👩‍👩", []sms.Character{{'👩', 0, 0}, {'\u200d', 1, 4}}},
		{"bytes that are not UTF-8, and U+FFFD itself", "a\xff\xfeb\ufffd", []sms.Character{{utf8.RuneError, 1, 1}}},
		{"after many segments", times(400, "€") + "ё", []sms.Character{{'ё', 400, 1200}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, sms.Count(tt.text).NotGSM7)
		})
	}
}

func TestCountNotGSM7IsBounded(t *testing.T) {
	t.Parallel()
	got := sms.Count(times(100_000, "привет, мир! "))
	assert.Len(t, got.NotGSM7, 7)
	assert.Equal(t, 1_300_000, got.Units)
}

func TestCountDoesNotAllocateForGSM7(t *testing.T) { // not parallel: allocations are counted for the whole process
	for name, text := range map[string]string{
		"empty": "", "one segment": times(160, "a"), "many segments": times(50, gsm7Default+gsm7Extension),
	} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { sms.Count(text) }), name)
	}
}

func TestEncodingString(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "GSM-7", sms.GSM7.String())
	assert.Equal(t, "UCS-2", sms.UCS2.String())
	assert.Equal(t, "sms.Encoding(7)", sms.Encoding(7).String())
	assert.Equal(t, sms.GSM7, sms.Segmentation{}.Encoding, "the zero value")
}

func FuzzCount(f *testing.F) {
	for _, text := range []string{
		"", "a", "€", "ы", "😀", "ç", "\x1b", "\x00", "\r\n", "\f", "\xff", "e\u0301", "👨‍👩‍👧‍👦", gsm7Default, gsm7Extension,
		times(160, "a"), times(161, "a"), times(152, "a") + "€" + times(152, "a"), times(81, "€"),
		times(71, "ы"), times(66, "ы") + "😀" + times(66, "ы"), times(36, "😀"), times(200, "a") + "\xf0\x9f\x98",
	} {
		f.Add(text, uint16(1))
		f.Add(text, uint16(40))
	}
	f.Fuzz(func(t *testing.T, piece string, repeat uint16) {
		text := times(int(repeat%64), piece) // what fuzzing finds is short, and the boundaries are far out
		if len(text) > 1<<12 {
			return
		}
		got, want := sms.Count(text), slowCount(text)
		if !same(got, want) {
			t.Fatalf("%q: %v %v, want %v %v", text, got, got.NotGSM7, want, want.NotGSM7)
		}
		capacity := 160
		if got.Encoding == sms.UCS2 {
			capacity = 70
		}
		if got.Segments*capacity < got.Units || got.Remaining < 0 || got.Remaining > capacity {
			t.Fatalf("%q: %v", text, got)
		}
		for _, c := range got.NotGSM7 {
			if r, _ := utf8.DecodeRuneInString(text[c.Offset:]); r != c.Rune || utf8.RuneCountInString(text[:c.Offset]) != c.Position {
				t.Fatalf("%q: %+v", text, c)
			}
		}
		checkRemaining(t, text, got)
	})
}

// checkRemaining holds Remaining to its word: so many characters of one unit fit, and one more does not.
func checkRemaining(t *testing.T, text string, got sms.Segmentation) {
	t.Helper()
	full := sms.Count(text + times(got.Remaining, "a"))
	if full.Segments != max(got.Segments, 1) || full.Remaining != 0 {
		t.Fatalf("%q: %v, and with %d more %v", text, got, got.Remaining, full)
	}
	if more := sms.Count(text + times(got.Remaining+1, "a")); more.Segments <= full.Segments {
		t.Fatalf("%q: %v, and with %d more %v", text, got, got.Remaining+1, more)
	}
}

// slowCount writes out the segments that Count only counts.
func slowCount(text string) sms.Segmentation {
	const escape = 0x1b
	var gsm, ucs [][]uint16 // the text's characters, by their units
	var foreign []sms.Character
	offset := 0
	for position, r := range []rune(text) {
		ucs = append(ucs, utf16.Encode([]rune{r}))
		switch {
		case strings.ContainsRune(gsm7Default, r):
			gsm = append(gsm, []uint16{uint16(r)})
		case strings.ContainsRune(gsm7Extension, r):
			gsm = append(gsm, []uint16{escape, uint16(r)})
		default:
			known := false
			for _, c := range foreign {
				known = known || c.Rune == r
			}
			if !known {
				foreign = append(foreign, sms.Character{Rune: r, Position: position, Offset: offset})
			}
		}
		_, size := utf8.DecodeRuneInString(text[offset:])
		offset += size
	}

	s := sms.Segmentation{Encoding: sms.GSM7}
	characters, alone, part := gsm, 160, 153
	if foreign != nil {
		s.Encoding, s.NotGSM7 = sms.UCS2, foreign
		characters, alone, part = ucs, 70, 67
	}
	segments := segmentsOf(characters, alone)
	room := alone
	if len(segments) > 1 {
		segments = segmentsOf(characters, part)
		room = part
	}
	s.Segments, s.Remaining = len(segments), room
	for i, segment := range segments {
		s.Units += len(segment)
		if i == len(segments)-1 {
			s.Remaining = room - len(segment)
		}
	}
	return s
}

// segmentsOf puts whole characters into a segment for as long as they fit.
func segmentsOf(characters [][]uint16, room int) [][]uint16 {
	var segments [][]uint16
	for _, units := range characters {
		last := len(segments) - 1
		if last < 0 || len(segments[last])+len(units) > room {
			segments = append(segments, append([]uint16(nil), units...))
			continue
		}
		segments[last] = append(segments[last], units...)
	}
	return segments
}

// same is faster than reflection, which fuzzing and a walk through all of Unicode would wait for.
func same(a, b sms.Segmentation) bool {
	if a.Encoding != b.Encoding || a.Segments != b.Segments || a.Units != b.Units || a.Remaining != b.Remaining ||
		len(a.NotGSM7) != len(b.NotGSM7) || (a.NotGSM7 == nil) != (b.NotGSM7 == nil) {
		return false
	}
	for i := range a.NotGSM7 {
		if a.NotGSM7[i] != b.NotGSM7[i] {
			return false
		}
	}
	return true
}

func BenchmarkCount(b *testing.B) {
	for _, bb := range []struct{ name, text string }{
		{"GSM-7, 160 letters", times(16, "0123 abcde")},
		{"GSM-7, accents and extended", times(10, "Grüße, [5 €]")},
		{"UCS-2, 70 Cyrillic", times(7, "привет ми,")},
		{"UCS-2, emoji", times(35, "😀")},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.text)))
			for b.Loop() {
				sms.Count(bb.text)
			}
		})
	}
}
