package table_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/internal/table"
)

func TestIsPlaceholder(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"", " ", "\t\n", "\u0000", "\u200b", "-", "--", "—", "''", `""`, "%", "none", "None", " null ", "(null)", "<null>", "<nil>", "nil", "undefined",
		"n/a", "N.A.", "NA", "NaN", "false", "True", "unknown", "error", "failed", "[object Object]",
		"0", "000", "00000000-0000-0000-0000-000000000000", "-1", "0.0", "0e5", "-7.5",
		"%i", "%tr", "%ID%", "%msg_id", "%msg_id%", "%1$s", "{id}", "{{id}}", "{{ message.id }}", "${id}", "<id>", "<%id%>", "#id#",
		"null-null", "undefined-undefined", "undefined:null", "null/undefined/none", "%1", "%2", "{1}", "{id1}", "{{id-1}}", "$(id)", "%(id)s",
		"%(message_id)s", "[id]", "[msg1]", "@id@", "@@id@@", "__id__", "__MSG_ID__", "{transactionId}", "{{ transactionId }}", "${message.id}",
	} {
		assert.True(t, table.IsPlaceholder(id), "%q", id)
	}
	for _, id := range []string{
		"1", "10", "0.5", "0x0", "0190f5a2", "-abc1", "-1a", "a", "é", "nonesuch", "null-1", "nab", "error-1", "%20", "%i1", "%2B63", "m-1", "#5", "#5#", "{id", "$id", "<a@b>",
		"null-nullable", "V1StGXR8_Z5jdHi6B-myT", "IRFa-VaY__jsOdHp_bQwl", "_x_", "[3f2504e04f8911d39a0c]", "${3F2504E04F89}", "{}x", "%%x1",
		"0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111", "{3F2504E0-4F89-11D3-9A0C-0305E82C3301}",
	} {
		assert.False(t, table.IsPlaceholder(id), "%q", id)
	}
}

func TestIdentifies(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"1", "m-1", "a1", "IRFaVaYjsOdHpbQwlmnop", "IRFa-VaY_jsOdHp-bQwlm", "abcdefghijkl", "{3F2504E0-4F89-11D3-9A0C-0305E82C3301}", "٣"} {
		assert.True(t, table.Identifies(id), "%q", id)
	}
	for _, id := range []string{"", "sms", "inbound", "message", "abcdefghijk", "null-null", "undefined-undefined", "%1", "{transactionId}", "__ID__", "0"} {
		assert.False(t, table.Identifies(id), "%q", id)
	}
}

func TestIsWord(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"E-17", "200101", "a.b:c_d", "12345678", "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111"} {
		assert.True(t, table.IsWord(word), word)
	}
	for _, word := range []string{"", "two words", "é", "123456789", "x123456789", "a\n", strings.Repeat("a", 65)} {
		assert.False(t, table.IsWord(word), word)
	}
}
