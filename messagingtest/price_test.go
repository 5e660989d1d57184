package messagingtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

func TestBalanceIsExact(t *testing.T) {
	for _, tc := range []struct{ set, before, after string }{
		{"0.5", "0.50", "0.00"},
		{"1", "1.00", "0.50"},
		{"0001.25", "1.25", "0.75"},
		{"012", "12.00", "11.50"},
		{"0.55", "0.55", "0.05"},
		{"200", "200.00", "199.50"},
		{"92233720368547758.07", "92233720368547758.07", "92233720368547757.57"},
	} {
		t.Run(tc.set, func(t *testing.T) {
			s := NewServer(t)
			s.SetBalance(tc.set)
			assert.Equal(t, tc.before, s.Balance())
			assert.Equal(t, tc.after, send(t, newClient(t), s, goodBody).data(t)["remaining"])
			assert.Equal(t, tc.after, s.Balance())
		})
	}
}

// Prices and the balance have the scale of the contract.
func TestBalanceHasTheScaleOfTheContract(t *testing.T) {
	names, err := contract.Parse([]byte(`{"sms.send": {"scale": -4}}`))
	require.NoError(t, err)
	s := NewServer(t, WithContract(names))
	s.SetBalance("200")
	data := send(t, newClient(t), s, goodBody).data(t)
	assert.Equal(t, "5000", data["transactionCost"])
	assert.Equal(t, "1995000", data["remaining"])
}

func TestSendRefusesTooLittleBalance(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	s.SetBalance("0.99")
	twoParts := `{"from":"ACME","to":"639171234567","text":"` + strings.Repeat("a", 161) + `"}`
	r := send(t, client, s, twoParts)
	require.NoError(t, r.err)
	assert.Equal(t, http.StatusBadRequest, r.status)
	assert.Equal(t, "200101", r.code(t))
	assert.Contains(t, string(r.body), "insufficient balance")
	assert.Empty(t, s.Sent())
	assert.Equal(t, "0.99", s.Balance(), "a refused message costs nothing")

	assert.Equal(t, "0.49", send(t, client, s, goodBody).data(t)["remaining"])
	assert.Equal(t, http.StatusBadRequest, send(t, client, s, goodBody).status)
	s.SetBalance("10")
	assert.Equal(t, "9.50", send(t, client, s, goodBody).data(t)["remaining"])
}

func TestSetBalanceRefusesMisuse(t *testing.T) {
	s := NewServer(t)
	for _, amount := range []string{
		"", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "1.2.3", " 1", "1/2", "NaN", "0.005", "92233720368547758.08",
	} {
		assert.Panics(t, func() { s.SetBalance(amount) }, amount)
	}
	assert.Equal(t, "1000000.00", s.Balance())
}
