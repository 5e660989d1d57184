package codec

import (
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A caller can pass the same constants with each request: write adds the key pair to a copy, and sorts that.
func TestWriteKeepsMembers(t *testing.T) {
	t.Parallel()
	key := func() (string, string) { return "k", "" }
	target := &url.URL{Scheme: "https", Host: "api.example.com"}
	list := CompileList(inQuery(t), target, key)
	members := make([]member, 0, 8)
	members = append(members, member{name: "z", text: "1"}, member{name: "b", text: "2"})
	before := slices.Clone(members)
	request, problems := list.write(target, members, nil)
	require.Empty(t, problems)
	assert.Equal(t, before, members)
	again, problems := list.write(target, members, nil)
	require.Empty(t, problems)
	assert.Equal(t, request, again)
}

// inQuery returns a table whose key pair is in the query.
func inQuery(t *testing.T) *table.Table {
	t.Helper()
	names, problems := table.Parse([]byte(`{"auth": {"keyPair": {"in": "query", "key": "a"}}}`))
	require.Empty(t, problems)
	return names
}
