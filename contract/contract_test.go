package contract_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	_ "time/tzdata" // zones, even if the machine knows none

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

var update = flag.Bool("update", false, "write docs/contract.json")

func TestDefaultIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := json.MarshalIndent(contract.Default(), "", "  ")
	require.NoError(t, err)
	text = append(text, '\n')
	const file = "../docs/contract.json"
	if *update {
		require.NoError(t, os.WriteFile(file, text, 0o644))
	}
	documented, err := os.ReadFile(file)
	require.NoError(t, err)
	assertSame(t, string(documented), string(text), "docs/contract.json is old: run this package's tests with -update")
}

// assertSame asserts that two files are equal, and otherwise shows where they differ.
func assertSame(t *testing.T, want, got, message string) {
	t.Helper()
	var failed failure
	if !assert.Equal(&failed, want, got) {
		_, diff, _ := strings.Cut(string(failed), "Diff:") // without the two files in front of it
		t.Error(message + "\n" + diff)
	}
}

// failure is what an assertion says.
type failure string

func (f *failure) Errorf(format string, args ...any) { *f = failure(fmt.Sprintf(format, args...)) }

// A difference would show that the embedded table has a key that the types have not, or lacks one.
func TestDefaultIsTheWholeEmbeddedTable(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../internal/table/default.json")
	require.NoError(t, err)
	text, err := json.Marshal(contract.Default())
	require.NoError(t, err)
	assert.Equal(t, decode(t, file), decode(t, text))

	strict, err := contract.Parse(file) // refuses what Default would pass over, such as a repeated key
	require.NoError(t, err)
	assert.Equal(t, table.Of(contract.Default()), table.Of(strict))
	assert.Equal(t, table.Of(contract.Default()), table.Of(contract.Contract{}), "the zero Contract")
}

func TestDefaultHasWhatTheSpecificationGives(t *testing.T) {
	t.Parallel()
	c := table.Of(contract.Default())
	assert.Equal(t, "/sms/send", c.SMSSend.Path)
	assert.Equal(t, "/api/sms", c.SMSList.Path)
	assert.Equal(t, "/chatapp1/send", c.ChatApp1Send.Path)
	assert.Equal(t, "/chatapp2/send", c.ChatApp2Send.Path)
	assert.Equal(t, "ttl", c.ChatApp1Send.Fields["ttl"])
	assert.Equal(t, "Authorization", c.Auth.Token.Header)
}

func TestDefaultIsParsedOnce(t *testing.T) {
	first, second := contract.Default(), contract.Default()
	assert.Same(t, table.Of(first), table.Of(second))
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = table.Of(contract.Default()) }))
}

func TestParseChangesOnlyWhatTheOverlayNames(t *testing.T) {
	t.Parallel()
	before, err := json.Marshal(contract.Default())
	require.NoError(t, err)
	defer func() {
		after, err := json.Marshal(contract.Default())
		require.NoError(t, err)
		assert.Equal(t, string(before), string(after), "the default has changed")
	}()
	text, err := json.Marshal(contract.Default())
	require.NoError(t, err)
	table := decode(t, text).(map[string]any)
	leaves := 0
	visit(nil, table, func(keys []string, value any) {
		leaves++
		t.Run(join(keys), func(t *testing.T) {
			changed := another(keys, value)
			overlay, err := json.Marshal(nest(keys, changed))
			require.NoError(t, err)
			c, err := contract.Parse(overlay)
			require.NoError(t, err)

			want := decode(t, text).(map[string]any)
			set(want, keys, changed)
			got, err := json.Marshal(c)
			require.NoError(t, err)
			assert.Equal(t, want, decode(t, got))
		})
	})
	assert.NotZero(t, leaves)
}

// visit calls f for each value of the table that is not an object with members.
func visit(keys []string, value any, f func([]string, any)) {
	object, ok := value.(map[string]any)
	if !ok || len(object) == 0 || keys != nil && keys[len(keys)-1] == "paging" { // whose members go together
		f(keys, value)
		return
	}
	for key, member := range object {
		visit(append(slices.Clip(keys), key), member, f)
	}
}

// another returns a value other than the one given that may stand in its place.
func another(keys []string, value any) any {
	switch keys[len(keys)-1] {
	case "encoding":
		if value == "query" {
			return value // of an operation by GET, which has no other
		}
		return "form"
	case "method":
		return "POST"
	case "layouts":
		return []any{"02.01.2006"}
	case "in":
		return "query"
	case "time":
		if _, ok := value.(string); ok && len(keys) == 2 {
			return "unix"
		}
	case "paging":
		return map[string]any{"by": "none", "first": json.Number("0"), "most": json.Number("50"), "whole": false}
	case "only":
		return map[string]any{"direction": []any{"outbound*"}}
	case "zone":
		return "Asia/Manila"
	case "notProcessed":
		return []any{json.Number("425")}
	case "ttl":
		if len(keys) == 2 {
			return "ms"
		}
	}
	switch value := value.(type) {
	case string:
		return value + "Changed"
	case bool:
		return !value
	case json.Number:
		return json.Number("1" + value.String())
	case []any:
		return []any{"changed"}
	default:
		return map[string]any{"changed": "constant"}
	}
}

func nest(keys []string, value any) any {
	for _, key := range slices.Backward(keys) {
		value = map[string]any{key: value}
	}
	return value
}

func set(object map[string]any, keys []string, value any) {
	for _, key := range keys[:len(keys)-1] {
		object = object[key].(map[string]any)
	}
	object[keys[len(keys)-1]] = value
}

func join(keys []string) (path string) {
	for _, key := range keys {
		path += "/" + key
	}
	return path
}

func decode(t *testing.T, text []byte) (value any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value), strconv.Quote(string(text)))
	return value
}

// Every operation and every webhook is validated, a new one too.
func TestParseValidatesEverySection(t *testing.T) {
	data, err := json.Marshal(contract.Default())
	require.NoError(t, err)
	var sections map[string]map[string]any
	require.NoError(t, json.Unmarshal(data, &sections))
	for name, section := range sections {
		for key, bad := range map[string]string{"path": "//evil.example.com", "zone": "Nowhere/Land"} {
			if _, ok := section[key]; !ok {
				continue
			}
			_, err := contract.Parse(fmt.Appendf(nil, `{%q: {%q: %q}}`, name, key, bad))
			assert.ErrorContains(t, err, name+"."+key)
		}
	}
}
