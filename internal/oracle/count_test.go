package oracle_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	encoder "github.com/warthog618/sms"
	"github.com/warthog618/sms/encoding/tpdu"

	"github.com/messaging-service/messaging-go/sms"
)

// The encoder builds the messages that a phone would send, so it can be asked for more than their number: encoding,
// length of the text and room in the last message are read off them. Its defaults are those of sms.Count: no national
// language shift tables, an 8-bit concatenation reference, whole characters.
//
// They differ in one point, by design, and the random texts leave it out:
//
//   - U+001B. The encoder takes it for a character of the default alphabet and writes the lone septet. In 3GPP TS
//     23.038, 6.2.1, that septet is no character but leads into the extension table: a phone would show "\x1be" as a
//     euro sign. sms.Count says UCS-2, which keeps the text as it is. TestTheEscapeIsNoCharacter holds both to it.
//
// Compared, although one might expect a difference:
//
//   - Surrogate pairs. TS 23.040, 9.2.3.24.1, forbids cutting an escape sequence or a UCS-2 character in two. Of
//     surrogate pairs it says nothing, since UCS-2 has none; both keep them whole.
//   - More than 255 segments. The header counts to 255 and the encoder's wraps around, but it builds them all.
//   - Bytes that are not UTF-8. Both read each as U+FFFD.

// encoded is what the encoder made of the text, in the terms of sms.Count.
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
		t.Fatalf("%q:\nCount says       %v\nthe encoder says %v", text, got, want)
	}
	return got
}

// The encoder fills its tables when they are first used, without a lock: the tests here do not run in parallel.

func TestKnownTexts(t *testing.T) {
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

func TestEveryCharacterOfTheBasicPlane(t *testing.T) {
	seven := 0
	for r := rune(0); r <= 0xffff; r++ {
		if r == '\x1b' || r >= 0xd800 && r <= 0xdfff {
			continue
		}
		if compare(t, string(r)).Encoding == sms.GSM7 {
			seven++
		}
	}
	if seven != 127+10 {
		t.Errorf("%d characters in GSM-7", seven)
	}
}

func TestRandomTexts(t *testing.T) {
	var (
		plain    = []rune("@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà")
		extended = []rune("\f^{}\\[~]|€")
		basic    = []rune("ыçабв漢字かな한글–“”…\u0301\u200d\ufe0f\ufffd\t\x00")
		emoji    = []rune("😀👩🏽🇵🇭🎉\U0010ffff")
	)
	for seed, kind := range []struct {
		name     string
		lengths  []int    // units at which something happens
		alphabet [][]rune // each as likely as the others
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
			var severalSegments, cutShort int
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
				severalSegments++
				room := 153
				if s.Encoding == sms.UCS2 {
					room = 67
				}
				if s.Segments*room-s.Units != s.Remaining {
					cutShort++
				}
			}
			// The texts are of use only where they meet what can go wrong.
			t.Logf("%d of 2500 take several segments, %d have one that ends early for a whole character", severalSegments, cutShort)
			if severalSegments < 500 {
				t.Error("too few texts of several segments")
			}
			if pairs := strings.Contains(kind.name, "extension") || strings.Contains(kind.name, "emoji"); pairs && cutShort < 100 {
				t.Error("too few texts with a pair at a boundary")
			}
		})
	}
}

func TestRandomBytes(t *testing.T) {
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

func TestTheEscapeIsNoCharacter(t *testing.T) {
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
		t.Errorf("the encoder has learned: %q reads as %q, so it can be compared", text, shown)
	}
	if got := sms.Count(text); got.Encoding != sms.UCS2 || got.Units != 2 {
		t.Errorf("%v", got)
	}
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }
