package contract_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"
	_ "time/tzdata" // the tests name zones, whatever the machine knows

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

var update = flag.Bool("update", false, "write docs/contract.json")

func TestDocumentedTableIsTheDefault(t *testing.T) {
	text, err := json.MarshalIndent(contract.Default(), "", "  ")
	require.NoError(t, err)
	text = append(text, '\n')
	const file = "../docs/contract.json"
	if *update {
		require.NoError(t, os.MkdirAll("../docs", 0o755))
		require.NoError(t, os.WriteFile(file, text, 0o644))
	}
	documented, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(documented), string(text), "run this package's tests with -update")
}

// What the file holds and the types do not, or the other way round, would show as a difference.
func TestDefaultHoldsTheWholeEmbeddedTable(t *testing.T) {
	file, err := os.ReadFile("default.json")
	require.NoError(t, err)
	text, err := json.Marshal(contract.Default())
	require.NoError(t, err)
	assert.Equal(t, decode(t, file), decode(t, text))

	strict, err := contract.Parse(file) // refuses what Default would pass over, such as a repeated key
	require.NoError(t, err)
	assert.Equal(t, contract.Default(), strict)
}

func TestDefaultIsValid(t *testing.T) {
	assert.NoError(t, contract.Default().Validate())
}

func TestDefaultHoldsWhatTheSpecificationGives(t *testing.T) {
	c := contract.Default()
	assert.Equal(t, "/sms/send", c.SMSSend.Path)
	assert.Equal(t, "/api/sms", c.SMSList.Path)
	assert.Equal(t, "/chatapp1/send", c.ChatApp1Send.Path)
	assert.Equal(t, "/chatapp2/send", c.ChatApp2Send.Path)
	assert.Equal(t, "ttl", c.ChatApp1Send.Fields.TTL)
	assert.Equal(t, "Authorization", c.Auth.Token.Header)
}

func TestDefaultIsFreshAtEachCall(t *testing.T) {
	changed := contract.Default()
	spoil(&changed)
	assert.NotEqual(t, changed, contract.Default())
	assert.NoError(t, contract.Default().Validate())
}

func TestCloneSharesNothing(t *testing.T) {
	make := func() contract.Contract {
		c := contract.Default()
		c.SMSSend.Constants["nested"] = map[string]any{"list": []any{"a", map[string]any{"b": "c"}}}
		c.SMSSend.Constants["typed"] = []string{"a"}
		return c
	}
	original := make()
	copied := original.Clone()
	require.Equal(t, original, copied)

	spoil(&copied)
	copied.SMSSend.Constants["nested"].(map[string]any)["list"].([]any)[1].(map[string]any)["b"] = "spoiled"
	copied.SMSSend.Constants["typed"].([]string)[0] = "spoiled"
	assert.Equal(t, make(), original)
}

func TestCloneKeepsWhatIsAbsentAbsent(t *testing.T) {
	assert.Equal(t, contract.Contract{}, contract.Contract{}.Clone())
}

// spoil writes into each list and map that c holds.
func spoil(c *contract.Contract) {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for _, field := range v.Fields() {
				walk(field)
			}
		case reflect.Slice:
			for i := range v.Len() {
				v.Index(i).SetZero()
			}
		case reflect.Map:
			for _, value := range v.Seq2() {
				walk(value)
			}
			v.SetMapIndex(reflect.ValueOf("spoiled"), reflect.Zero(v.Type().Elem()))
		}
	}
	walk(reflect.ValueOf(c).Elem())
}

// Whatever the table holds can be changed, and nothing else changes with it.
func TestEveryKeyCanBeChangedAlone(t *testing.T) {
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

// visit calls f for each value of the table that has no table of its own. An empty object can take entries, so it counts as one.
func visit(keys []string, value any, f func([]string, any)) {
	object, ok := value.(map[string]any)
	if !ok || len(object) == 0 {
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
		return "form"
	case "in":
		return "query"
	case "time":
		if _, ok := value.(string); ok && keys[0] == "sms.list" {
			return "unix"
		}
	case "by":
		return "none"
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
	case json.Number:
		return json.Number(value.String() + "7")
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
