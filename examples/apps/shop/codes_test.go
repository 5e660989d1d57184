package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The table of examples/otp, which needs no database itself.
func TestTableOfCodes(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../../otp/codes.sql")
	require.NoError(t, err)
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := in.open(t)
			_, err = db.ExecContext(t.Context(), string(schema))
			require.NoError(t, err)
			const insert = "INSERT INTO code (challenge, request, number, sealed, chat_reference, claimed, expires) " +
				"VALUES ($1, $2, '+639171234567', 's', $3, 1, 301)"
			add := func(challenge string, request any, reference string) error {
				_, err := db.ExecContext(t.Context(), insert, challenge, request, reference)
				return err
			}
			require.NoError(t, add("c1", "q1", "r1"))
			require.Error(t, add("c1", "q2", "r2"), "a challenge")
			require.Error(t, add("c2", "q2", "r1"), "a reference ID")
			require.Error(t, add("c2", "q1", "r2"), "a request that is repeated")
			const begin = "UPDATE code SET sms_reference = $1 WHERE challenge = 'c1' AND sms_reference IS NULL AND NOT unsent"
			begun := func(reference string) int64 {
				result, err := db.ExecContext(t.Context(), begin, reference)
				require.NoError(t, err)
				n, err := result.RowsAffected()
				require.NoError(t, err)
				return n
			}
			assert.Equal(t, int64(1), begun("s1"))
			assert.Zero(t, begun("s2"), "an SMS has begun")
			_, err = db.ExecContext(t.Context(), "UPDATE code SET unsent = TRUE")
			require.NoError(t, err)
			require.NoError(t, add("c2", "q1", "r2"), "its first code did not go out")
			require.NoError(t, add("c3", nil, "r3"))
			require.NoError(t, add("c4", nil, "r4"), "pages without requests")
			var sent int
			const count = "SELECT COUNT(*) FROM code WHERE number = '+639171234567' AND expires > 300 AND NOT unsent"
			require.NoError(t, db.QueryRowContext(t.Context(), count).Scan(&sent))
			assert.Equal(t, 3, sent, "toward the three codes of a number")
			_, err = db.ExecContext(t.Context(), "UPDATE code SET unsent = TRUE, sms_reference = NULL")
			require.NoError(t, err)
			assert.Zero(t, begun("s3"), "the code was given up")
			var indexes int
			catalog := "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND name LIKE 'code_%_message'"
			if isPostgres(in.url) {
				catalog = "SELECT COUNT(*) FROM pg_indexes WHERE indexname LIKE 'code_%_message'"
			}
			require.NoError(t, db.QueryRowContext(t.Context(), catalog).Scan(&indexes))
			assert.Equal(t, 2, indexes, "for reports without a reference ID")
		})
	}
}
