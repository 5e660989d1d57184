package phone

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestKey(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"+639171234567":                   "639171234567",
		"639171234567":                    "639171234567",
		"00639171234567":                  "639171234567",
		" +63 (917) 123-4567 ":            "639171234567",
		"+63.917.123.4567":                "639171234567",
		"+63\u2011917\u2013123\u00a04567": "639171234567",
		"tel:+63-917-123-4567;ext=1":      "639171234567",
		"TEL:+639171234567":               "639171234567",
		"sms:+639171234567?body=Hi":       "639171234567",
		"sms://+639171234567":             "639171234567",
		"whatsapp:+639171234567":          "639171234567",
		"\u200e+63\u200b9171234567\u202c": "639171234567",
		"\ufeff+639171234567":             "639171234567",
		"+639171234567\x00\xff":           "639171234567",
		"＋６３９１７１２３４５６７":                   "639171234567",
		"0917 123 4567":                   "639171234567",
		"+44 (0)20 7946 0000":             "442079460000",
		"0044 (0)20 7946 0000":            "442079460000",
		"(+44) (0)20 7946 0000":           "442079460000",
		"(0044) (0)20 7946 0000":          "442079460000",
		"(0)917 123 4567":                 "639171234567",
		"+5215512345678":                  "525512345678",
		"+525512345678":                   "525512345678",
		"+5491123456789":                  "541123456789",
		"+541123456789":                   "541123456789",
		"+5511987654321":                  "551187654321",
		"+551187654321":                   "551187654321",
		"+15551234567":                    "15551234567",
		"12345":                           "12345",
		"+521551234567":                   "521551234567",
		"+5511887654321":                  "5511887654321",
	} {
		key, ok := Key(written, "63")
		assert.True(t, ok, written)
		assert.Equal(t, want, key, written)
	}
	key, ok := Key("0917 123 4567", "")
	assert.True(t, ok)
	assert.Equal(t, "09171234567", key, "without a country code")
	key, _ = Key("021 98765 4321", "55")
	assert.Equal(t, "552187654321", key, "national, with the mobile digit")
}

func TestKeyOfNoNumber(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "+", "00", "\x00", "\xff", "\u200b", "ACME", "US.13491208655302741918", "63917***4567", "639171234567,639181234567",
		"+639171234567 or +639181234567", "call 123", "1234567890123456", "+63917/1234567", "tel:", "sip:ana@example.com",
	} {
		key, ok := Key(text, "63")
		assert.False(t, ok, "%q", text)
		assert.Empty(t, key, "%q", text)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sent, listed string
		want         bool
	}{
		{"+639171234567", "639171234567", true},
		{"+639171234567", "00639171234567", true},
		{"+639171234567", "09171234567", true},
		{"+63 (917) 123-4567", "tel:+639171234567;ext=1", true},
		{"+5215512345678", "+525512345678", true},
		{"+5511987654321", "11 8765 4321", true},
		{"+442079460000", "0044 (0)20 7946 0000", true},
		{"+442079460000", "(+44) (0)20 7946 0000", true},
		{"12345", "12345", true},
		{"12345", "+6312345", true},
		{"+639171234567", "+639171234568", false},
		{"+639171234567", "+659171234567", false},
		{"+639171234567", "34567", false},
		{"+639171234567", "6391712345671234567890", false},
		{"+639171234567", "+6391234567", false},
	} {
		assert.Equal(t, tt.want, Match(tt.listed, tt.sent), "%s %s", tt.listed, tt.sent)
	}
}

func TestContradict(t *testing.T) {
	t.Parallel()
	assert.True(t, Contradict("+639171234567", "+639171234568"))
	assert.True(t, Contradict("tel:+639171234567", "+639171234568"))
	for _, listed := range []string{"639171234567", "0917 123 4567", "", "63917***4568", "ACME", "4568", "6391712345671234567890"} {
		assert.False(t, Contradict(listed, "+639171234567"), listed)
	}
	assert.False(t, Contradict("+639171234567", "ACME"))
}

func TestFold(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "STOP ALL", Fold("ＳＴＯＰ\u00a0A\u200bL\u00adL\x00\xff"))
}

func FuzzKey(f *testing.F) {
	for _, seed := range []string{"+639171234567", "tel:+63-917;ext=1", "００６３９１７", "+5215512345678", "US.1349", "\x00\xff", "+44 (0)20"} {
		f.Add(seed, "63")
	}
	f.Fuzz(func(t *testing.T, text, countryCode string) {
		if countryCode != "" && (countryCode[0] == '0' || len(countryCode) > 3 || ASCIIDigits(countryCode) != countryCode) {
			return
		}
		key, ok := Key(text, countryCode)
		if ok != (key != "") || strings.Trim(key, "0123456789") != "" {
			t.Fatalf("the key of %q is %q", text, key)
		}
		again, _ := Key("+"+key, countryCode)
		if ok && len(key) <= longest && again != key && withoutMobileDigit(key) == key {
			t.Fatalf("the key of %q is %q, and of that %q", text, key, again)
		}
		if ok && len(key) > 4 && !Match(key, key) {
			t.Fatalf("%q does not match itself", key)
		}
	})
}
