package messaging

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

func TestOperationsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(contract.Default())
	require.NoError(t, err)
	var sections map[string]struct{ Path string }
	require.NoError(t, json.Unmarshal(raw, &sections))
	var docs strings.Builder
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		if !strings.HasSuffix(file, "_test.go") {
			docs.Write(source)
		}
	}
	found := 0
	compiled := reflect.ValueOf(compile(&settings{}, &url.URL{Scheme: "https", Host: "api.example.com"})).Elem()
	for _, field := range compiled.Fields() {
		found++
		op := field.Elem().FieldByName("endpoint")
		name, method, path := op.FieldByName("name").String(), op.FieldByName("method").String(), op.FieldByName("url").Elem().FieldByName("Path").String()
		section, ok := sections[name]
		require.True(t, ok, "%s is no section of the contract", name)
		assert.Equal(t, section.Path, path)
		assert.True(t, strings.HasPrefix(name, Channel(op.FieldByName("channel").Uint()).String()+"."), name)
		assert.Contains(t, docs.String(), "("+method+" "+path+")", "no method says that it is %s", name)
	}
	for _, section := range sections {
		if section.Path != "" {
			found--
		}
	}
	assert.Zero(t, found, "an operation of the contract is not in the table")
}
