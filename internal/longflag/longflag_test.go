package longflag_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/internal/longflag"
)

func TestWithTwoDashes(t *testing.T) {
	t.Parallel()
	find := func(name string) (isFlag, needsValue bool) { return name == "raw" || name == "limit", name == "limit" }
	for args, want := range map[string]string{
		"list -raw -limit 3":   "list --raw --limit 3",
		"list -limit=3 -raw":   "list --limit=3 --raw",
		"list -limit -raw":     "list --limit -raw",
		"list -n 3 raw -other": "list -n 3 raw -other",
		"list -- -raw":         "list -- -raw",
		"list --raw -limit":    "list --raw --limit",
	} {
		assert.Equal(t, want, strings.Join(longflag.WithTwoDashes(strings.Fields(args), find), " "), args)
	}
}
