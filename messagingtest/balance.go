package messagingtest

import (
	"fmt"
	"math/big"
	"strings"
)

const (
	// firstBalance is enough for two million parts, so that only a test that wants it runs out of money.
	firstBalance = "1000000.00"
	unitCost     = "0.50"
	unitDecimals = 2
)

// balance is an exact decimal: an amount of units of 10^-decimals.
type balance struct {
	amount   *big.Int
	decimals int
}

func parseBalance(s string) (balance, bool) {
	whole, fraction, point := strings.Cut(s, ".")
	if whole == "" || point && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return balance{}, false
	}
	fraction += strings.Repeat("0", max(0, unitDecimals-len(fraction)))
	amount, ok := new(big.Int).SetString(whole+fraction, 10)
	return balance{amount, len(fraction)}, ok
}

// pay takes the cost of the parts from the balance, or reports false and takes nothing if it is too small.
func (b balance) pay(parts int) (cost string, ok bool) {
	price := priceOf(parts)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(b.decimals-unitDecimals)), nil)
	scaled := scale.Mul(scale, price.amount)
	if b.amount.Cmp(scaled) < 0 {
		return "", false
	}
	b.amount.Sub(b.amount, scaled)
	return price.String(), true
}

func priceOf(parts int) balance {
	price, _ := parseBalance(unitCost)
	price.amount.Mul(price.amount, big.NewInt(int64(parts)))
	return price
}

func (b balance) String() string {
	digits := fmt.Sprintf("%0*s", b.decimals+1, b.amount)
	point := len(digits) - b.decimals
	return digits[:point] + "." + digits[point:]
}

// SetBalance sets what is left to spend, as a decimal number such as "12" or "0.75", in no particular currency.
// Each part of a message costs 0.50, and a message for which too little is left is refused as a whole, with the code
// 200101 and the message "insufficient balance": a correct client's verdict is refused. What was accepted is paid,
// delivered or not, and the SMS of a fallback for which too little is left is not sent. The code is a default of the
// contract. That it comes with the HTTP status 400, the price and the balance of 1000000.00 at the start are the
// stand-in's choice. SetBalance panics if amount is anything but digits with an optional point between them.
func (s *Server) SetBalance(amount string) {
	b, ok := parseBalance(amount)
	if !ok {
		panic(fmt.Sprintf("messagingtest: SetBalance(%q): not a decimal number of at least zero", amount))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.balance = b
}

// Balance returns what is left to spend: an exact decimal number with at least two decimals, and as many as the number
// given to [Server.SetBalance] had.
func (s *Server) Balance() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.balance.String()
}
