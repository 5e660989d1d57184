package contract_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

// Each overlay of docs/contract.md can be used by itself, but for a cursor, which needs its paging.
func TestOverlaysOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/contract.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindAllSubmatch(page, -1)
	require.Len(t, blocks, 6)
	whole := map[string]any{}
	for _, block := range blocks {
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
	const page = "docs/unusual.md"
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
