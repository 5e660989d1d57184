package table_test

import (
	"testing"
	"time"

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

func TestParseTimeOfZeros(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "0", "0000-00-00", "0000-00-00 00:00:00", "0000-00-00T00:00:00.000Z", "0000/00/00", "00:00"} {
		at, ok := table.ParseTime(text, nil)
		assert.True(t, ok, text)
		assert.True(t, at.IsZero(), text)
	}
	for _, text := range []string{"0000-00-01", "T1", "-"} {
		_, ok := table.ParseTime(text, nil)
		assert.False(t, ok, text)
	}
}

func TestFormatTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 1, 4, 34, 56, 789_999_999, time.FixedZone("", 8*60*60))
	zone := time.FixedZone("", -4*60*60)
	for form, want := range map[string]string{
		"rfc3339ms": "2026-09-30T20:34:56.789Z", "rfc3339": "2026-09-30T20:34:56Z", "unix": "1790800496", "unixms": "1790800496789",
		"datetime": "2026-09-30 16:34:56", "date": "2026-09-30", "rfc1123": "Wed, 30 Sep 2026 20:34:56 GMT", "rfc2822": "Wed, 30 Sep 2026 20:34:56 +0000",
	} {
		for _, same := range []time.Time{at, at.UTC(), at.In(time.FixedZone("", -12*60*60))} {
			assert.Equal(t, want, table.FormatTime(same, form, zone), form)
		}
	}
}
