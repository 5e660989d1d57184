package setting_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/internal/setting"
)

func TestRenameNamesFlags(t *testing.T) {
	t.Parallel()
	problems := setting.ProblemsError{
		{Setting: "WithTimeout", Reason: "must be more than 0"},
		{Setting: "MESSAGING_BASE_URL", Reason: "must be https", Advice: " (%s allows it)", Option: "WithPlainHTTP"},
		{Setting: "MESSAGING_TOKEN", Reason: "want credentials; set it", Advice: ", or use %s", Option: "WithAuth"},
		{Setting: "WithLogger", Reason: "needs a logger"},
	}
	assert.EqualError(t, problems, "WithTimeout: must be more than 0; MESSAGING_BASE_URL: must be https (WithPlainHTTP allows it); "+
		"MESSAGING_TOKEN: want credentials; set it, or use WithAuth; WithLogger: needs a logger")
	flags := map[string]string{"WithTimeout": "--timeout", "WithPlainHTTP": "--plain-http"}
	assert.EqualError(t, setting.Rename(fmt.Errorf("client: %w", problems), flags),
		"--timeout: must be more than 0; MESSAGING_BASE_URL: must be https (--plain-http allows it); "+
			"MESSAGING_TOKEN: want credentials; set it; WithLogger: needs a logger")
	assert.Equal(t, "WithTimeout", problems[0].Setting, "the error itself is unchanged")
}

func TestRenameReturnsOtherErrors(t *testing.T) {
	t.Parallel()
	assert.Equal(t, assert.AnError, setting.Rename(assert.AnError, nil))
	assert.NoError(t, setting.Rename(nil, nil))
}
