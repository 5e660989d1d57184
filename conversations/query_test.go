package conversations

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBind(t *testing.T) {
	t.Parallel()
	values := arguments{"sender": "ACME", "names": []string{"1", "2"}, "known": column{"3", "4"}, "unused": 5}
	statement, args := bind("VALUES @known; IN (@names) AND (a = @sender OR b=@sender)", values)
	assert.Equal(t, "VALUES (CAST($1 AS TEXT)), (CAST($2 AS TEXT)); IN ($3, $4) AND (a = $5 OR b=$5)", statement)
	assert.Equal(t, []any{"3", "4", "1", "2", "ACME"}, args)
}

func TestBindNeedsEachValue(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{"@sender", "@", "@ sender", "@senders"} {
		assert.PanicsWithValue(t, "conversations: a statement has no value for @"+nameAtStart(statement[1:]), func() {
			bind(statement, arguments{"names": "1"})
		}, statement)
	}
}
