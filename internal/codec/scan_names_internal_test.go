package codec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A scan passes over what the contract reads as something else than a failure, and over the objects around it. It reads on in an object that
// can hold a message: {"result": "failed"} reports a failure even if the contract reads the operator at result.status.
func TestExemptPaths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]map[string]bool{
		"operator":             {},
		"status":               {"status": true},
		"result.status":        {"result.status": true},
		"data.state.operator":  {"data.state": true},
		"results.0.error.code": {"results.0.error": true, "results.0.error.code": true},
	} {
		assert.Equal(t, want, exemptPaths(map[string][]string{"operator": {path}}), path)
	}
	assert.Empty(t, exemptPaths(map[string][]string{"status": {"data.status"}}), "a status means a status")
}
