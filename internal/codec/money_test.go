package codec

import (
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScaled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		amount string
		scale  int
		want   string
	}{
		{"0.50", 0, "0.50"},
		{" +1.5e-2 ", 0, "+1.5e-2"},
		{"1.50E+2", 0, "1.50E+2"},
		{" 007 ", 0, "007"},
		{"12345", -4, "1.2345"},
		{"12000", -4, "1.2000"},
		{"5", -4, "0.0005"},
		{"0.5", 2, "50"},
		{"0.123", 2, "12.3"},
		{"-0", 1, "0"},
		{"1.50E+2", -2, "1.50"},
		{"15e-1", 1, "15"},
		{"007", -1, "0.7"},
		{".5", 1, "5"},
		{" 5 ", 1, "50"},
		{"", -4, ""},
		{"0.00750", -18, "0.00000000000000000000750"},
		{"123456789012345678901234567890", 18, "123456789012345678901234567890" + strings.Repeat("0", 18)},
	} {
		got, ok := scaled(tt.amount, tt.scale)
		assert.True(t, ok, tt.amount)
		assert.Equal(t, tt.want, got, "%s %d", tt.amount, tt.scale)
	}
	for _, amount := range []string{
		"free", "1,50", "1.50 EUR", "€5", "--5", "+-5", "1.2.3", "1e", "e5", "1e99", "0x10", "-", ".", "NaN", "Inf", "١", "1_000", strings.Repeat("9", 65),
	} {
		for _, scale := range []int{0, -4} {
			got, ok := scaled(amount, scale)
			assert.False(t, ok, amount)
			assert.Empty(t, got, amount)
		}
	}
}

func TestAmountOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"":              {"", ""},
		"0.8000":        {"0.8000", ""},
		"KES 0.8000":    {"0.8000", "KES"},
		"KES0.8000":     {"0.8000", "KES"},
		"0.05 USD":      {"0.05", "USD"},
		"0.05usd":       {"0.05", "usd"},
		"-0.05 USD":     {"-0.05", "USD"},
		"USD -0.05":     {"-0.05", "USD"},
		"-$0.05":        {"-0.05", "$"},
		"€5":            {"5", "€"},
		"$.50":          {".50", "$"},
		"KES .50":       {".50", "KES"},
		"50.KES":        {"50.", "KES"},
		"5 €":           {"5", "€"},
		"US$ 5.10":      {"5.10", "US$"},
		" EUR  1.5e-2 ": {"1.5e-2", "EUR"},
	} {
		number, currency, ok := amountOf(text, 0)
		assert.True(t, ok, text)
		assert.Equal(t, want, [2]string{number, currency}, text)
	}
	for _, text := range []string{
		"free", "USD", "USD 5 EUR", "5 credits", "Rs. 5", "1,50 EUR", "1.50 EUR/SMS", "--5", "+-5", "$", "KES KES 5", "5 KES 5", "15e", "€€5", "n/a", "-",
		"<b>5</b>", "+639171234567 KES 5", "KSh.50", "KES.5", "-KES.5", "KSh. 50",
	} {
		number, currency, ok := amountOf(text, 0)
		assert.False(t, ok, text)
		assert.Equal(t, [2]string{}, [2]string{number, currency}, text)
	}
	number, currency, ok := amountOf("KES -12345", -4)
	assert.Equal(t, []any{"-1.2345", "KES", true}, []any{number, currency, ok})
}

// FuzzScaled compares the digits with exact arithmetic.
func FuzzScaled(f *testing.F) {
	for _, amount := range []string{"12345", "-0.50", "1.5E+2", "1e-9", "+.5", "5.", "", "free", "-0", "00.10"} {
		f.Add(amount, -4)
		f.Add(amount, 3)
	}
	f.Fuzz(func(t *testing.T, amount string, scale int) {
		scale %= 19
		got, ok := scaled(amount, scale)
		if !ok || got == "" || scale == 0 {
			return
		}
		want, ok := new(big.Rat).SetString(strings.TrimSpace(amount))
		if !ok {
			t.Fatalf("%q is no number, got %q", amount, got)
		}
		power, _ := new(big.Rat).SetString("1e" + strconv.Itoa(scale))
		want.Mul(want, power)
		if have, ok := new(big.Rat).SetString(got); !ok || have.Cmp(want) != 0 || strings.ContainsAny(got, "eE+") {
			t.Fatalf("%q scaled by %d is %q", amount, scale, got)
		}
	})
}
