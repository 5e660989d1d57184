package chatapp2

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// jsonPaths returns the paths of all values in a body, from the outside in.
func jsonPaths(tree any) []jsonPath {
	var all []jsonPath
	var walk func(at jsonPath, value any)
	walk = func(at jsonPath, value any) {
		if len(at) > 0 {
			all = append(all, at)
		}
		switch v := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(at.with(name), v[name])
			}
		case []any:
			for i, one := range v {
				walk(at.with(i), one)
			}
		}
	}
	walk(nil, tree)
	return all
}

func TestUnknownMembersAreKeptInTheNarrowestPlace(t *testing.T) {
	t.Parallel()
	unknown := map[string]any{"a": []any{json.Number("1.50"), "2", nil, map[string]any{"b": json.Number("1e2")}}}
	seen := map[string]bool{}
	for _, body := range jsonBodies(t) {
		if strings.Contains(body.Name, "type in upper case") {
			continue
		}
		tree := jsonTree(t, body.Body)
		for _, at := range append([]jsonPath{nil}, jsonPaths(tree)...) {
			key := at.with("future_member").kind(tree)
			if _, ok := at.of(tree).(map[string]any); !ok || seen[key] || len(at) == 1 && at[0] == "fallback" { // which takes no other
				continue
			}
			seen[key] = true
			changed, want := jsonTree(t, body.Body), jsonNarrowest(tree, at)
			at.with("future_member").set(changed, unknown)
			m := jsonRead(t, changed)
			assert.Equal(t, want, strings.Join(jsonRaws(m), " "), "%s: a member in %v", body.Name, at)
			assert.Empty(t, jsonDiff("", changed, jsonWritten(t, m)), "%s: a member in %v", body.Name, at)
			if len(at) == 0 {
				assert.Equal(t, any(unknown), m.Extra["future_member"])
			}
		}
	}
	assert.Greater(t, len(seen), 100)
}

// jsonNarrowest names what keeps an unknown member of the object that a path leads to; nothing where something does that
// holds any member.
func jsonNarrowest(tree any, at jsonPath) string {
	kind := jsonPath{"type"}.of(tree)
	if kind == nil {
		kind = "text"
	}
	if len(at) == 0 || at[0] != kind {
		return "" // Extra
	}
	for _, free := range []any{"data", "flow_action_data"} {
		if slices.Contains(at, free) {
			return ""
		}
	}
	narrowest := "Raw"
	switch {
	case kind == "interactive" && len(at) > 1 && at[1] == "action":
		return "RawAction"
	case kind == "template":
		for i := 1; i+1 < len(at) && at[i] == "components"; {
			narrowest = "RawComponent"
			rest := at[i+2:]
			switch {
			case len(rest) > 3 && rest[0] == "cards" && rest[2] == "components":
				i += 4
				continue
			case len(rest) > 1 && rest[0] == "parameters":
				if component := strings.ToLower(fmt.Sprint(at[:i+2].with("type").of(tree))); component == "header" || component == "body" {
					narrowest = "RawParameter"
				}
			}
			break
		}
	}
	return narrowest
}

func TestValuesOfAnotherKindAreKept(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	bodies := jsonBodies(t)
	slices.SortStableFunc(bodies, func(a, b jsonBody) int { return len(a.Body) - len(b.Body) }) // each path in the shortest body that has it
	for _, body := range bodies {
		tree := jsonTree(t, body.Body)
		for _, at := range jsonPaths(tree) {
			key := at.kind(tree)
			if seen[key] {
				continue
			}
			seen[key] = true
			was := at.of(tree)
			for _, other := range []any{json.Number("7"), "x", true, nil, []any{json.Number("7")}, map[string]any{"k": "v"}} {
				at.set(tree, other)
				name := fmt.Sprintf("%s: %v = %v", body.Name, at, other)
				raw, err := json.Marshal(tree)
				require.NoError(t, err, name)
				var m Message
				if err := json.Unmarshal(raw, &m); err != nil {
					require.True(t, len(at) == 1 || at[0] == "fallback", name)
					assert.Contains(t, err.Error(), fmt.Sprintf("%q", at[0]), name)
					continue
				}
				again, err := json.Marshal(m)
				if assert.NoError(t, err, name) && !jsonReshaped(tree) {
					assert.Empty(t, jsonLost("", tree, jsonTree(t, again)), "%s: %s", name, again)
				}
				problemsOf(m)
			}
			at.set(tree, was)
		}
	}
	assert.Greater(t, len(seen), 300)
}

// jsonReshaped reports whether a body comes back in another shape, and is refused or means the same all the same: a button of a
// template with a parameter that holds nothing, or a card with a product that is no object.
func jsonReshaped(tree any) bool {
	for _, at := range jsonPaths(tree) {
		n := len(at)
		switch {
		case at[n-1] == "parameters" && strings.EqualFold(fmt.Sprint(at[:n-1].with("sub_type").of(tree)), "voice_call"):
			return true // in either order
		case n > 3 && at[n-2] == "parameters" && strings.EqualFold(fmt.Sprint(at[:n-2].with("type").of(tree)), "button"):
			parameter, _ := jsonPruned(at.of(tree)).(map[string]any)
			if delete(parameter, "type"); parameter != nil && len(parameter) == 0 {
				return true
			}
		case n > 4 && at[n-3] == "cards" && at[n-1] == "action" && strings.EqualFold(fmt.Sprint(at[:n-1].with("type").of(tree)), "product"):
			if _, ok := at.of(tree).(map[string]any); !ok {
				return true
			}
		}
	}
	return false
}

// jsonLost says what of a body is not in what it became, and nothing where all is. What counts as absent cannot be lost: null,
// false, an empty text and an empty object, and zero where there is no such number. A number and the same in quotes are the same for the members that are met in both
// forms, and types and the names of actions in either case.
func jsonLost(at string, was, is any) string {
	switch x := was.(type) {
	case nil:
		return ""
	case map[string]any:
		if len(x) == 0 {
			return ""
		}
		y, _ := is.(map[string]any)
		for name, value := range x {
			if d := jsonLost(at+"."+name, value, y[name]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		y, ok := is.([]any)
		if !ok || len(x) != len(y) {
			return fmt.Sprintf("%s: a list of %d became %T of another length", at, len(x), is)
		}
		for i := range x {
			if d := jsonLost(fmt.Sprintf("%s[%d]", at, i), x[i], y[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if was == "" || was == false || is == nil && jsonFromOne[at[strings.LastIndexByte(at, '.')+1:]] && jsonNumber(was) == "0" {
		return ""
	}
	if a, ok := was.(string); ok && strings.HasSuffix(at, ".action.name") {
		if b, ok := is.(string); ok && strings.EqualFold(a, b) {
			return ""
		}
	}
	return jsonDiff(at, was, is)
}

// jsonFromOne names the numbers that cannot be zero.
var jsonFromOne = map[string]bool{
	"offset": true, "quantity": true, "ttl_minutes": true, "expiration_days": true, "timestamp": true, "day_of_week": true, "year": true, "month": true, "day_of_month": true,
}
