package table_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/internal/table"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		list []string
		word string
		fold bool
		want int
	}{
		{nil, "a", true, -1},
		{[]string{"ok"}, "OK", true, math.MaxInt},
		{[]string{"ok"}, "OK", false, -1},
		{[]string{"ok"}, " ok\n", false, math.MaxInt},
		{[]string{"REJECTED*", "REJ*"}, "rejected_by", true, 8},
		{[]string{"REJ*", "REJECTED*"}, "REJECTED", false, 8},
		{[]string{"REJECTED*", "REJECTED"}, "REJECTED", false, math.MaxInt},
		{[]string{"REJECTED*"}, "REJECT", false, -1},
		{[]string{"*"}, "", true, 0},
		{[]string{"2*"}, "2*", false, 1},
	} {
		assert.Equal(t, tt.want, table.Match(tt.list, tt.word, tt.fold), "%q in %q", tt.word, tt.list)
	}
}

func TestMeaning(t *testing.T) {
	t.Parallel()
	lists := map[string][]string{"failed": {"E*", "5"}, "expired": {"E_OLD*", "55"}, "sent": {"e_old_but_sent"}}
	for word, want := range map[string]string{"E": "failed", "e_older": "expired", "E_OLD_BUT_SENT": "sent", "5": "failed", "55": "expired", "555": "", "": ""} {
		meaning, match := table.Meaning(lists, word, true)
		assert.Equal(t, want, meaning, word)
		assert.Equal(t, want == "", match < 0, word)
	}
}

func TestHeadersWith(t *testing.T) {
	t.Parallel()
	all := table.Headers{"X-Api-Version": "3", "X-App": "shop"}
	own := table.Headers{"x-api-version": "4", "X-APP": "", "X-Own": "1"}
	assert.Equal(t, table.Headers{"x-api-version": "4", "x-own": "1"}, all.With(own))
	assert.Equal(t, table.Headers{"x-api-version": "3", "x-app": "shop"}, all.With(nil))
	assert.Empty(t, table.Headers(nil).With(nil))
	assert.Equal(t, "3", all["X-Api-Version"], "neither changes")
}
