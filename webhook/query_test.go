package webhook

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// Every concept of the contract is read.
func TestConcepts(t *testing.T) {
	t.Parallel()
	names := table.Of(contract.Default())
	known := map[string]bool{}
	for _, key := range conceptKeys() {
		require.NotEmpty(t, key)
		assert.False(t, known[key], key)
		known[key] = true
	}
	used := map[string]bool{}
	for _, params := range []map[string][]string{names.WebhookSMS.Params, names.WebhookChatApp1.Params, names.WebhookChatApp2.Params, names.WebhookDelivery.Params} {
		for key := range params {
			assert.True(t, known[key], key)
			used[key] = true
		}
	}
	assert.Equal(t, known, used)
	for key := range names.WebhookDelivery.Placeholders {
		assert.True(t, known[key], key)
	}
}

func TestDecodePlain(t *testing.T) {
	t.Parallel()
	for length := range 10 {
		for at := range length {
			for c := range 256 {
				b := []byte(strings.Repeat("a", length))
				b[at] = byte(c)
				text := string(b)
				assert.Equal(t, c != '%' && c != '+' && c < 0x80, isPlain(text))
				if isPlain(text) {
					require.Equal(t, repair(unescape(text, ' ')), text)
				}
			}
		}
	}
	assert.True(t, isPlain(""))
}

func TestUnescapeHexadecimal(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for _, escape := range []string{"%4" + string([]byte{byte(c)}), "%" + string([]byte{byte(c)}) + "1"} {
			want := escape
			if decoded, err := hex.DecodeString(escape[1:]); err == nil {
				want = string(decoded)
			} else if c == '+' {
				want = strings.ReplaceAll(escape, "+", " ")
			}
			assert.Equal(t, "a"+want+"z", unescape("a"+escape+"z", ' '), "%q", escape)
		}
	}
}

// The standard's table, by what the code page says; a character alone, so that no two make one of UTF-8.
func TestRepairWindows1252(t *testing.T) {
	t.Parallel()
	const page = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	runes := []rune(page)
	require.Len(t, runes, 32)
	for c := 0x80; c < 0x100; c++ {
		want := rune(c)
		if c < 0xa0 {
			want = runes[c-0x80]
		}
		assert.Equal(t, "a"+string(want)+"b", repair("a"+string([]byte{byte(c)})+"b"), "%x", c)
	}
}
