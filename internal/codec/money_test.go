package codec

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/internal/table"
)

func TestScaled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		amount string
		money  table.Money
		want   string
	}{
		{"0.50", table.Money{}, "0.50"},
		{" +1.5e-2 ", table.Money{}, "+1.5e-2"},
		{"1.50E+2", table.Money{}, "1.50E+2"},
		{" 007 ", table.Money{}, "007"},
		{"12345", table.Money{Scale: -4}, "1.2345"},
		{"12000", table.Money{Scale: -4}, "1.2000"},
		{"5", table.Money{Scale: -4}, "0.0005"},
		{"0.5", table.Money{Scale: 2}, "50"},
		{"0.123", table.Money{Scale: 2}, "12.3"},
		{"-0.50", table.Money{Negate: true}, "0.50"},
		{"0.50", table.Money{Negate: true}, "-0.50"},
		{"0.00", table.Money{Negate: true}, "0.00"},
		{"-0", table.Money{Scale: 1}, "0"},
		{"+7", table.Money{Scale: 0, Negate: true}, "-7"},
		{"1.50E+2", table.Money{Scale: -2}, "1.50"},
		{"15e-1", table.Money{Scale: 1}, "15"},
		{"007", table.Money{Scale: -1}, "0.7"},
		{".5", table.Money{Scale: 1}, "5"},
		{" 5 ", table.Money{Scale: 1}, "50"},
		{"", table.Money{Scale: -4}, ""},
		{"0.00750", table.Money{Scale: -18}, "0.00000000000000000000750"},
		{"123456789012345678901234567890", table.Money{Scale: 18}, "123456789012345678901234567890" + strings.Repeat("0", 18)},
	} {
		got, ok := scaled(tt.amount, tt.money)
		assert.True(t, ok, tt.amount)
		assert.Equal(t, tt.want, got, "%s %+v", tt.amount, tt.money)
	}
	for _, amount := range []string{
		"free", "1,50", "1.50 EUR", "€5", "--5", "+-5", "1.2.3", "1e", "e5", "1e99", "0x10", "-", ".", "NaN", "Inf", "١", "1_000", strings.Repeat("9", 65),
	} {
		for _, money := range []table.Money{{}, {Scale: -4}} {
			got, ok := scaled(amount, money)
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
		"5 €":           {"5", "€"},
		"US$ 5.10":      {"5.10", "US$"},
		" EUR  1.5e-2 ": {"1.5e-2", "EUR"},
	} {
		number, currency, ok := amountOf(text, table.Money{})
		assert.True(t, ok, text)
		assert.Equal(t, want, [2]string{number, currency}, text)
	}
	for _, text := range []string{
		"free", "USD", "USD 5 EUR", "5 credits", "Rs. 5", "1,50 EUR", "1.50 EUR/SMS", "--5", "+-5", "$", "KES KES 5", "5 KES 5", "15e", "€€5", "n/a", "-",
		"<b>5</b>", "+639171234567 KES 5",
	} {
		number, currency, ok := amountOf(text, table.Money{})
		assert.False(t, ok, text)
		assert.Equal(t, [2]string{}, [2]string{number, currency}, text)
	}
	number, currency, ok := amountOf("KES -12345", table.Money{Scale: -4, Negate: true})
	assert.Equal(t, []any{"1.2345", "KES", true}, []any{number, currency, ok})
}

// FuzzScaled compares the digits with exact arithmetic.
func FuzzScaled(f *testing.F) {
	for _, amount := range []string{"12345", "-0.50", "1.5E+2", "1e-9", "+.5", "5.", "", "free", "-0", "00.10"} {
		f.Add(amount, -4, false)
		f.Add(amount, 3, true)
	}
	f.Fuzz(func(t *testing.T, amount string, scale int, negate bool) {
		money := table.Money{Scale: scale % 19, Negate: negate}
		got, ok := scaled(amount, money)
		if !ok || got == "" || money == (table.Money{}) {
			return
		}
		want, ok := new(big.Rat).SetString(strings.TrimSpace(amount))
		if !ok {
			t.Fatalf("%q is no number, got %q", amount, got)
		}
		power, _ := new(big.Rat).SetString("1e" + big.NewInt(int64(money.Scale)).String())
		want.Mul(want, power)
		if negate {
			want.Neg(want)
		}
		if have, ok := new(big.Rat).SetString(got); !ok || have.Cmp(want) != 0 || strings.ContainsAny(got, "eE+") {
			t.Fatalf("%q scaled by %+v is %q", amount, money, got)
		}
	})
}
