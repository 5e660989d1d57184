package oracle_test

import (
	"fmt"
	"testing"

	"github.com/nyaruka/phonenumbers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/phone"
)

// parse returns a number that somebody typed in the form in which it is stored and sent, as docs/sending.md has it.
func parse(typed string) (string, error) {
	number, err := phonenumbers.Parse(typed, "PH") // the country of numbers without a country code
	if err != nil || !phonenumbers.IsValidNumber(number) {
		return "", fmt.Errorf("%q is no phone number", typed)
	}
	return phonenumbers.Format(number, phonenumbers.E164), nil // +639171234567
}

// TestNumberKey compares the digits by which the library identifies a number with the result of a parser that knows every country.
func TestNumberKey(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"+639171234567", "+63 917 123 4567", "0917-123-4567", "09171234567", "tel:+639171234567", "0063917 1234567"} {
		number, err := parse(typed)
		require.NoError(t, err, typed)
		assert.Equal(t, "+639171234567", number, typed)
		key, ok := phone.Key(typed, "63")
		assert.True(t, ok, typed)
		assert.Equal(t, number, "+"+key, typed)
		assert.True(t, phone.Match(typed, number), typed)
	}
	for _, typed := range []string{"", "ACME", "12345", "+63 917"} {
		_, err := parse(typed)
		assert.Error(t, err, typed)
	}
	assert.False(t, phone.Match("+639171234567", "+639171234568"))
}
