package chatapp2

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// jsonShapes are bodies that grow with n in one direction each.
func jsonShapes() map[string]func(n int) string {
	message := func(content string) string { return `{"to":"15550001111",` + content + `}` }
	template := func(components string) string {
		return message(`"type":"template","template":{"name":"a","language":{"code":"en"},"components":[` + components + `]}`)
	}
	interactive := func(kind, action string) string {
		return message(`"type":"interactive","interactive":{"type":"` + kind + `","body":{"text":"B"},"action":` + action + `}`)
	}
	many := func(n int, one string) string { return strings.Repeat(one+",", n) + one }
	deep := func(n int, open, inside, end string) string {
		return strings.Repeat(open, n) + inside + strings.Repeat(end, n)
	}
	return map[string]func(n int) string{
		"a long text":          func(n int) string { return message(`"text":{"body":"` + strings.Repeat("é<", n) + `"}`) },
		"a long number":        func(n int) string { return message(`"n":` + strings.Repeat("1", n)) },
		"many members":         func(n int) string { return message(`"n":[` + many(n, `{"a":1}`) + `]`) },
		"a member again":       func(n int) string { return message(many(n, `"text":{"body":"x"}`)) },
		"deep members":         func(n int) string { return message(`"n":` + deep(n, `[`, ``, `]`)) },
		"deep objects":         func(n int) string { return message(`"n":` + deep(n, `{"a":`, `1`, `}`)) },
		"deep content":         func(n int) string { return message(`"type":"text","text":` + deep(n, `{"body":`, `1`, `}`)) },
		"deep unknown content": func(n int) string { return message(`"type":"hologram","hologram":` + deep(n, `{"a":`, `1`, `}`)) },
		"a deep action":        func(n int) string { return interactive("flow", deep(n, `{"parameters":`, `1`, `}`)) },
		"a deep header": func(n int) string {
			return message(`"type":"interactive","interactive":` + deep(n, `{"header":`, `1`, `}`))
		},
		"deep flow data": func(n int) string {
			return interactive("flow", `{"name":"flow","parameters":{"flow_action_payload":{"data":`+deep(n, `{"a":`, `1`, `}`)+`}}}`)
		},
		"a deep component": func(n int) string { return template(deep(n, `{"type":"body","parameters":[`, ``, `]}`)) },
		"a deep parameter": func(n int) string {
			return template(`{"type":"header","parameters":[` + deep(n, `{"type":"text","text":`, `1`, `}`) + `]}`)
		},
		"cards on cards": func(n int) string {
			return template(deep(n/2, `{"type":"carousel","cards":[{"components":[`, ``, `]}]}`))
		},
		"indexed cards on cards": func(n int) string {
			return template(deep(n/2, `{"type":"carousel","cards":[{"card_index":0,"components":[`, ``, `]}]}`))
		},
		"many contacts": func(n int) string {
			return message(`"type":"contacts","contacts":[` + many(n, `{"name":{"formatted_name":"A"},"phones":[{}]}`) + `]`)
		},
		"many buttons": func(n int) string {
			return interactive("button", `{"buttons":[`+many(n, `{"type":"reply","reply":{"id":"1","title":"a"}}`)+`]}`)
		},
		"many rows": func(n int) string { return interactive("list", `{"sections":[{"rows":[`+many(n, `{"id":"1"}`)+`]}]}`) },
		"many cards": func(n int) string {
			return interactive("carousel", `{"cards":[`+many(n, `{"type":"product","action":{}}`)+`]}`)
		},
		"many components":         func(n int) string { return template(many(n, `{"type":"body"}`)) },
		"many unknown components": func(n int) string { return template(many(n, `{"type":"smell"}`)) },
		"many parameters": func(n int) string {
			return template(`{"type":"body","parameters":[` + many(n, `{"type":"text","text":"a"}`) + `]}`)
		},
		"many unknown parameters": func(n int) string { return template(`{"type":"body","parameters":[` + many(n, `{"a":"b"}`) + `]}`) },
		"many button parameters": func(n int) string {
			return template(`{"type":"button","sub_type":"quick_reply","parameters":[` + many(n, `{"type":"payload","payload":"a"}`) + `]}`)
		},
		"many template cards": func(n int) string {
			return template(`{"type":"carousel","cards":[` + many(n, `{"components":[{"type":"body"}]}`) + `]}`)
		},
	}
}

// Allocations are counted, which is the same on every machine: of a body ten times as large about ten times as many.
func TestDecodingGrowsWithTheBody(t *testing.T) { //nolint:paralleltest // counts what the whole program allocates
	for name, shape := range jsonShapes() {
		count := func(n int) uint64 {
			raw := []byte(shape(n))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var m Message
			if json.Unmarshal(raw, &m) == nil {
				_, _ = json.Marshal(m)
				_ = callOf(m)
			}
			runtime.ReadMemStats(&after)
			return after.Mallocs - before.Mallocs
		}
		count(1) // compiles and allocates what is kept
		assert.Less(t, count(3000), 25*count(300)+1000, name)
	}
}

func TestDecodingAMebibyte(t *testing.T) {
	t.Parallel()
	shapes := jsonShapes()
	for _, name := range []string{"a long text", "a long number", "many members", "many contacts", "many unknown components", "many parameters"} {
		shape := shapes[name]
		thousand := len(shape(1001)) - len(shape(1))
		raw := []byte(shape(1 << 20 / thousand * 1000))
		require.Greater(t, len(raw), 1<<20-1<<18, name)
		var m Message
		require.NoError(t, json.Unmarshal(raw, &m), name)
		again, err := json.Marshal(m)
		require.NoError(t, err, name)
		assert.Greater(t, len(again), 1<<19, name)
		problemsOf(m)
	}
}

func TestDecodingADeepBody(t *testing.T) {
	t.Parallel()
	for name, shape := range jsonShapes() {
		if !strings.Contains(name, "deep") && !strings.Contains(name, "cards on cards") {
			continue
		}
		for _, n := range []int{100, 9000, 100_000} {
			var m Message
			if err := json.Unmarshal([]byte(shape(n)), &m); err != nil {
				assert.Greater(t, n, 2000, name)
				continue
			}
			_, err := json.Marshal(m)
			assert.NoError(t, err, "%s, %d", name, n)
			problemsOf(m)
		}
	}
}
