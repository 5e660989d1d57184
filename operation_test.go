package messaging

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

func TestOperationsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(contract.Default())
	require.NoError(t, err)
	var sections map[string]struct{ Path, Method string }
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
	compiled := compile(settings{}, &url.URL{Scheme: "https", Host: "api.example.com"})
	all := []*endpoint{&compiled.smsList().endpoint}
	require.Len(t, table.Channels(), int(channelCount)-1, "every channel of the table needs its constant, and every constant its channel")
	for i := range table.Channels() {
		all = append(all, &compiled.sendOn(Channel(i+1)).endpoint)
	}
	for name, section := range sections {
		method := cmp.Or(section.Method, http.MethodPost)
		if section.Path != "" {
			assert.Contains(t, docs.String(), "("+method+" "+section.Path+")", "no method says that it is %s", name)
		}
	}
	for _, op := range all {
		section, ok := sections[op.name]
		require.True(t, ok, "%s is no section of the contract", op.name)
		assert.Equal(t, section.Path, op.url.Path)
		assert.True(t, strings.HasPrefix(op.name, op.channel.String()+"."), op.name)
		assert.Equal(t, cmp.Or(section.Method, http.MethodPost), op.method)
	}
}
