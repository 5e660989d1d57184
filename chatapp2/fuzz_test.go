package chatapp2

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzUnmarshal reads anything. What it reads as a message is written again without a loss, and is the same from then on; and
// no message brings validation or encoding to its knees.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"to":1e400}`, `{"":0}`, `{"type":""}`, `{"type":"type"}`, `{"type":"to","to":"1"}`, `{"type":"ttl","ttl":"5s"}`, `{"type":"context","context":[1]}`,
		`{"text":"x"}`, `{"type":"text"}`, `{"type":"TEXT","TEXT":{"body":"x"},"text":{"body":"y"}}`, `{"To":"1","to":"2","to":"3"}`, `{"ttl":"-0.5ms","fallback":{"from":"","text":""}}`, `{"ttl":5}`,
		`{"type":"interactive","interactive":{"type":"order_status","action":{"name":"review_ordEr"}}}`, `{"location":{"latitude":13744211676562361,"longitude":"+05"}}`,
		`{"messaging_product":"WhatsApp"}`, `{"status":"read","message_id":"w"}`, `{"callbackURL":"x","fallback":{"a":1}}`, "{\"text\":{\"body\":\"\xff\\ud800\\u0000\u2028\"}}",
		`{"type":"reaction","reaction":{"message_id":"w","emoji":"x"},"recipient":"US","dlrCallback":"http://h:99999"}`,
		`{"type":"reaction","reaction":{"message_id":"w","emoji":"🇵🇭🇵"},"biz_opaque_callback_data":"\ud800"}`,
		`{"type":"interactive","interactive":{"type":"button","body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":" a"}},{"type":"reply","reply":{"id":"1","title":" a"}}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	random := rand.New(rand.NewPCG(1, 1))
	others := []any{0, "", "x", true, nil, []any{}, []any{nil}, map[string]any{}, map[string]any{"type": "text", "text": nil}}
	for _, body := range jsonBodies(f) {
		if len(body.Body) > 2000 {
			continue // long texts and lists say nothing new
		}
		f.Add([]byte(body.Body))
		tree := jsonTree(f, body.Body)
		paths := jsonPaths(tree)
		for range 3 {
			changed := jsonTree(f, body.Body)
			paths[random.IntN(len(paths))].set(changed, others[random.IntN(len(others))])
			raw, err := json.Marshal(changed)
			require.NoError(f, err)
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first Message
		if json.Unmarshal(data, &first) != nil {
			return
		}
		problems := problemsOf(first)
		raw, err := json.Marshal(first)
		if err != nil {
			assert.NotEmpty(t, problems, "a valid message that cannot be encoded: %v", err)
			return
		}
		if was, is := jsonTree(t, data), jsonTree(t, raw); !jsonReshaped(was) {
			assert.Empty(t, jsonLost("", jsonComparable(was), jsonComparable(is)), "%s", raw)
		}
		var second, third Message
		require.NoError(t, json.Unmarshal(raw, &second), "%s", raw)
		again, err := json.Marshal(second)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(again, &third), "%s", again)
		assert.Equal(t, string(raw), string(again))
		assert.Equal(t, second, third)
		assert.Equal(t, problems, problemsOf(second))
	})
}

// jsonComparable takes out of a body what its meaning does not depend on, or what no message keeps: the constants, a lifetime below nanoseconds, and the case in which a type is written where it is a key too.
func jsonComparable(tree any) any {
	body := tree.(map[string]any)
	delete(body, "ttl")
	delete(body, "messaging_product")
	if kind, _ := body["type"].(string); strings.ToLower(kind) != kind {
		delete(body, kind)
		delete(body, strings.ToLower(kind))
	}
	return body
}
