package chatapp2

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// jsonPath leads from the top of a body to a value: the names of members, and the places in lists.
type jsonPath []any

func (p jsonPath) String() string {
	var b strings.Builder
	for _, step := range p {
		if i, ok := step.(int); ok {
			b.WriteString("[" + strconv.Itoa(i) + "]")
		} else {
			b.WriteString("." + step.(string))
		}
	}
	return b.String()
}

// with returns a longer path, and leaves the shorter one alone.
func (p jsonPath) with(steps ...any) jsonPath { return append(slices.Clip(p), steps...) }

// of returns the value that the path leads to, nil if there is none.
func (p jsonPath) of(tree any) any {
	for _, step := range p {
		switch s := step.(type) {
		case string:
			object, _ := tree.(map[string]any)
			tree = object[s]
		case int:
			list, _ := tree.([]any)
			if s >= len(list) {
				return nil
			}
			tree = list[s]
		}
	}
	return tree
}

// set puts a value where the path leads.
func (p jsonPath) set(tree, value any) {
	switch last := p[len(p)-1].(type) {
	case string:
		p[:len(p)-1].of(tree).(map[string]any)[last] = value
	case int:
		p[:len(p)-1].of(tree).([]any)[last] = value
	}
}

// kind names where a path leads by the types of what it goes through, so that it is the same in all bodies of one kind.
func (p jsonPath) kind(tree any) string {
	var b strings.Builder
	for i := range p {
		object, _ := p[:i].of(tree).(map[string]any)
		fmt.Fprint(&b, object["type"], object["sub_type"])
		if name, ok := p[i].(string); ok {
			b.WriteString("." + name)
		}
	}
	return strings.ToLower(b.String())
}

// jsonRead decodes a body that must be a message.
func jsonRead(t testing.TB, tree any) Message {
	t.Helper()
	raw, err := json.Marshal(tree)
	require.NoError(t, err)
	var m Message
	require.NoError(t, json.Unmarshal(raw, &m), "%s", raw)
	return m
}

// jsonWritten encodes a message.
func jsonWritten(t testing.TB, m Message) any {
	t.Helper()
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	return jsonTree(t, raw)
}

// jsonRejects reports whether a message is rejected at a field, or inside it if that will do, or at the narrowest raw part that
// holds the field.
func jsonRejects(t testing.TB, m Message, field string, inside bool) bool {
	t.Helper()
	for _, problem := range problemsOf(m) {
		rest, ok := strings.CutPrefix(problem.Field, field)
		if ok && (rest == "" || inside && (rest[0] == '.' || rest[0] == '[')) {
			return true
		}
		if raw, isRaw := strings.CutSuffix(problem.Field, ".JSON"); isRaw && strings.HasPrefix(field, raw) {
			return true
		}
	}
	return false
}

// jsonPruned returns a body without what counts as absent: null, false, an empty text, object or list.
func jsonPruned(value any) any {
	switch v := value.(type) {
	case map[string]any:
		pruned := map[string]any{}
		for name, one := range v {
			if one = jsonPruned(one); one != nil {
				pruned[name] = one
			}
		}
		if len(pruned) > 0 {
			return pruned
		}
		return nil
	case []any:
		if len(v) == 0 {
			return nil
		}
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = jsonPruned(one)
		}
		return all
	case string:
		if v == "" {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return value
}
