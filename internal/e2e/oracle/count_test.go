package oracle_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	encoder "github.com/warthog618/sms"
	"github.com/warthog618/sms/encoding/tpdu"

	"github.com/messaging-service/messaging-go/sms"
)

// The encoder builds the messages that a phone would send. The tests read encoding, text length and free space off these messages. Its
// defaults are the defaults of sms.Count: no national language shift tables, an 8-bit concatenation reference, and no split characters.
//
// They differ in one point, by design, which the random texts leave out:
//
//   - U+001B. The encoder treats it as a character of the default alphabet and writes the lone septet. In 3GPP TS
//     23.038, 6.2.1, that septet is not a character but the prefix of the extension table: a phone would show "\x1be" as a
//     euro sign. sms.Count returns UCS-2, which preserves the text. TestCountOfEscape checks both.
//
// They agree in these points, although they could differ:
//
//   - Surrogate pairs. TS 23.040, 9.2.3.24.1, forbids splitting an escape sequence or a UCS-2 character. It does not mention
//     surrogate pairs, which UCS-2 does not have. Neither splits them.
//   - More than 255 segments. The counter in the header is one byte. The encoder's wraps around, but it builds all segments.
//   - Bytes that are not UTF-8. Both read each as U+FFFD.

// encoded returns the segmentation of the messages that the encoder builds for text.
func encoded(t *testing.T, text string) sms.Segmentation {
	t.Helper()
	messages, err := encoder.Encode([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	s := sms.Segmentation{Segments: len(messages), Remaining: 160}
	for i := range messages {
		alphabet, err := messages[i].Alphabet()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		length, room := len(messages[i].UD), messages[i].UDBlockSize()
		if alphabet == tpdu.AlphaUCS2 {
			s.Encoding = sms.UCS2
			length, room = length/2, room/2
		}
		s.Units += length
		s.Remaining = room - length
	}
	return s
}

func compare(t *testing.T, text string) sms.Segmentation {
	t.Helper()
	got, want := sms.Count(text), encoded(t, text)
	if got.Encoding != want.Encoding || got.Segments != want.Segments || got.Units != want.Units || got.Remaining != want.Remaining {
		t.Fatalf("%q:\nCount:   %v\nencoder: %v", text, got, want)
	}
	return got
}

// The encoder fills its tables on first use without a lock, so the tests do not run in parallel.

func TestCountOfKnownTexts(t *testing.T) {
	for _, text := range []string{
		"", "a", "é", "ç", "ы", "😀", "€", "\f", "\r\n", "\n", "\t", "\x00", "\x7f", "`", "\u00a0", "\u2126", "e\u0301", "\ufffd", "\ufeff",
		"\xff", "\xf0\x9f\x98", "\xed\xa0\x80", "👨‍👩‍👧‍👦", "🇵🇭", "ÇñÅ@£{}[]~^|\\",
		repeat("a", 159), repeat("a", 160), repeat("a", 161), repeat("a", 306), repeat("a", 307),
		repeat("€", 80), repeat("€", 81), repeat("€", 152), repeat("€", 153),
		repeat("a", 152) + "€" + repeat("a", 6), repeat("a", 152) + "€" + repeat("a", 7), repeat("a", 152) + "€" + repeat("a", 152),
		repeat("a", 159) + "€", repeat("a", 305) + "€", repeat("a", 304) + "€",
		repeat("ы", 70), repeat("ы", 71), repeat("ы", 134), repeat("ы", 135), repeat("😀", 35), repeat("😀", 36),
		repeat("ы", 66) + "😀ыы", repeat("ы", 66) + "😀ыыы", repeat("ы", 66) + "😀" + repeat("ы", 66),
		repeat("a", 153*255), repeat("a", 153*255+1), repeat("ы", 67*256+1),
	} {
		compare(t, text)
	}
}

func TestCountOfBasicPlane(t *testing.T) {
	gsm7 := 0
	for r := rune(0); r <= 0xffff; r++ {
		if r == '\x1b' || r >= 0xd800 && r <= 0xdfff {
			continue
		}
		if compare(t, string(r)).Encoding == sms.GSM7 {
			gsm7++
		}
	}
	if gsm7 != 127+10 {
		t.Errorf("%d characters are in GSM-7, want %d", gsm7, 127+10)
	}
}

func TestCountOfRandomTexts(t *testing.T) {
	var (
		plain    = []rune("@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà")
		extended = []rune("\f^{}\\[~]|€")
		basic    = []rune("ыçабв漢字かな한글–“”…\u0301\u200d\ufe0f\ufffd\t\x00")
		emoji    = []rune("😀👩🏽🇵🇭🎉\U0010ffff")
	)
	for seed, kind := range []struct {
		name     string
		lengths  []int    // units around a segment boundary
		alphabet [][]rune // chosen with equal probability
	}{
		{"default alphabet", []int{160, 306, 459}, [][]rune{plain}},
		{"extension now and then", []int{160, 306, 459}, [][]rune{plain, plain, plain, plain, plain, plain, plain, extended}},
		{"extension heavy", []int{80, 152, 160, 228}, [][]rune{plain, extended, extended, extended}},
		{"extension only", []int{80, 152, 228}, [][]rune{extended}},
		{"UCS-2", []int{70, 134, 201}, [][]rune{basic}},
		{"UCS-2 with emoji", []int{60, 70, 120, 134}, [][]rune{basic, basic, basic, emoji}},
		{"emoji", []int{35, 66, 99}, [][]rune{emoji}},
		{"everything", []int{50, 70, 110, 134, 160, 306}, [][]rune{plain, plain, extended, basic, emoji}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(23_038, uint64(seed)))
			var multipart, shortened int
			for range 2500 {
				length := random.IntN(500)
				if random.IntN(4) > 0 {
					length = kind.lengths[random.IntN(len(kind.lengths))] + random.IntN(9) - 4
				}
				var text strings.Builder
				for range length {
					from := kind.alphabet[random.IntN(len(kind.alphabet))]
					text.WriteRune(from[random.IntN(len(from))])
				}
				s := compare(t, text.String())
				if s.Segments < 2 {
					continue
				}
				multipart++
				room := 153
				if s.Encoding == sms.UCS2 {
					room = 67
				}
				if s.Segments*room-s.Units != s.Remaining {
					shortened++
				}
			}
			// The texts are useful only if they reach the hard cases.
			t.Logf("%d of 2500 texts have several segments, %d have one that ends early to keep a character whole", multipart, shortened)
			if multipart < 500 {
				t.Error("too few texts with several segments")
			}
			if pairs := strings.Contains(kind.name, "extension") || strings.Contains(kind.name, "emoji"); pairs && shortened < 100 {
				t.Error("too few texts with a pair at a boundary")
			}
		})
	}
}

func TestCountOfRandomBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(23_040, 0))
	const bytes = "aé€ы😀\xff\xc3\xe2\x82\xf0\x9f"
	for range 2500 {
		text := make([]byte, random.IntN(400))
		for i := range text {
			text[i] = bytes[random.IntN(len(bytes))]
		}
		compare(t, string(text))
	}
}

func TestCountOfEscape(t *testing.T) {
	const text = "\x1be"
	messages, err := encoder.Encode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	shown, err := tpdu.DecodeUserData(messages[0].UD, nil, tpdu.Alpha7Bit)
	if err != nil {
		t.Fatal(err)
	}
	if string(shown) != "€" {
		t.Errorf("the encoder now reads %q as %q: include it in the comparison", text, shown)
	}
	if got := sms.Count(text); got.Encoding != sms.UCS2 || got.Units != 2 {
		t.Errorf("Count(%q) = %v, want 2 units of UCS-2", text, got)
	}
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }
