package contract_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
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

// The package comment shows the same overlay, and names each concept.
func TestPackageComment(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	comment := regexp.MustCompile("(?m)^// ?").ReplaceAll(file, nil)
	overlay := regexp.MustCompile(`(?ms)^\t\{$.*?^\t\}$`).Find(comment)
	assert.Equal(t, decode(t, []byte(heron)), decode(t, overlay))

	text, err := json.Marshal(contract.Default())
	require.NoError(t, err)
	_, concepts, found := strings.Cut(string(comment), "# Concepts\n")
	require.True(t, found)
	concepts, _, _ = strings.Cut(concepts, "\n# ")
	lists := map[string][]string{}
	place := ""
	for line := range strings.Lines(concepts) {
		first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, "\t ") {
			first, rest = place, line
		}
		place = first
		words, _, _ := strings.Cut(rest, ";")
		lists[place] = append(lists[place], regexp.MustCompile(`\w+`).FindAllString(words, -1)...)
	}
	for name, section := range decode(t, text).(map[string]any) {
		for key, value := range section.(map[string]any) {
			place := name + "." + key
			switch key {
			case "response":
				place = key
			case "placeholders":
				place = name + ".params"
			case "fields", "params", "orders", "page", "record", "statuses", "classes":
			default:
				continue
			}
			assert.ElementsMatch(t, slices.Collect(maps.Keys(value.(map[string]any))), lists[place], place)
		}
	}
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
