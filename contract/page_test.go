package contract_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/jsonscan"
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

	defaults, err := os.ReadFile("../internal/table/default.json")
	require.NoError(t, err)
	const heading, next = "// # Concepts\n//\n", "//\n// # "
	before, rest, hasList := strings.Cut(string(file), heading)
	_, after, isFollowed := strings.Cut(rest, next)
	require.True(t, hasList && isFollowed)
	want := before + heading + concepts(defaults) + next + after
	if *update {
		require.NoError(t, os.WriteFile("doc.go", []byte(want), 0o644))
	} else {
		assertSame(t, want, string(file), "the concepts in doc.go are old: run this package's tests with -update")
	}
}

// concepts returns the list of the package comment: the objects of the default table whose keys are concepts, and those in their order.
func concepts(defaults []byte) (lines string) {
	const width = 130
	kinds := strings.Fields("classes fields orders page params placeholders record response sorts statuses")
	for _, section := range jsonscan.Members(defaults) {
		for _, object := range jsonscan.Members(section.Value) {
			place := section.Name + "." + object.Name
			switch {
			case !slices.Contains(kinds, object.Name):
				continue
			case object.Name == "response" && section.Name != "sms.send":
				continue // it is the same
			case object.Name == "response":
				place = object.Name
			}
			line, separator := fmt.Sprintf("//\t%-30s", place), " "
			for _, concept := range jsonscan.Members(object.Value) {
				if len(line)+len(concept.Name) > width {
					lines += line + ",\n"
					line, separator = fmt.Sprintf("//\t%-30s", ""), " "
				}
				line += separator + concept.Name
				separator = ", "
			}
			lines += line + "\n"
		}
	}
	return lines
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
