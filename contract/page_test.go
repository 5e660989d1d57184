package contract_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

// The steps of docs/contract.md make up the overlay of the example. .ci/readme parses the page's other overlays.
func TestOverlaysOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/contract.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindAllSubmatch(page, -1)
	const steps = 6
	require.Greater(t, len(blocks), steps)
	whole := map[string]any{}
	for _, block := range blocks[:steps] {
		_, err := contract.Parse(block[1])
		require.NoError(t, err, "%s", block[1])
		mergeInto(whole, decode(t, block[1]).(map[string]any))
	}
	assert.Equal(t, decode(t, []byte(heron)), any(whole), "the example has the page's overlay")
}

func TestPackageCommentShowsTheSameOverlay(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	comment := regexp.MustCompile("(?m)^// ?").ReplaceAll(file, nil)
	overlay := regexp.MustCompile(`(?ms)^\t\{$.*?^\t\}$`).Find(comment)
	assert.Equal(t, decode(t, []byte(heron)), decode(t, overlay))
}

func mergeInto(whole, part map[string]any) {
	for key, value := range part {
		object, isObject := value.(map[string]any)
		known, isKnown := whole[key].(map[string]any)
		if isObject && isKnown {
			mergeInto(known, object)
		} else {
			whole[key] = value
		}
	}
}

// What no key says is Go, and the error of a key that does not exist names the page which shows it.
func TestErrorOfAnUnknownKeyNamesThePage(t *testing.T) {
	t.Parallel()
	const page = "docs/contract.md"
	_, err := os.Stat("../" + page)
	require.NoError(t, err)
	for _, overlay := range []string{
		`{"errors": {"gateway": [429]}}`, `{"errors": {"signs": {}}}`, `{"sms.send": {"errors": {}}}`, `{"sms.send": {"negate": true}}`,
		`{"chatapp1.send": {"duration": "ms"}}`, `{"sms.list": {"in": {}}}`, `{"sms.list": {"inclusive": {}}}`,
		`{"sms.send": {"fields": {"to": "0.to"}}}`,
	} {
		_, err := contract.Parse([]byte(overlay))
		assert.ErrorContains(t, err, page, overlay)
	}
}
