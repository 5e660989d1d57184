package messagingtest

import (
	_ "embed" // for the samples
	"encoding/json"
	"iter"
)

//go:embed samples.json
var samplesJSON []byte

// InboundSamples returns inbound chat-app messages, by a name that describes them: one of every known kind, replies, the
// platform's system messages, and kinds that do not exist yet. A correct receiver delivers every one.
//
// Samples whose name begins with "flat" have parameters only. The others also have an object of the third-party platform as JSON,
// whose content agrees with the parameters. Two have nothing but the JSON: one in its envelope, and one of a user who shows no
// number. IDs are distinct, and times a second apart.
func InboundSamples() iter.Seq2[string, InboundChatApp] {
	return func(yield func(string, InboundChatApp) bool) {
		var samples []struct {
			Sample string
			InboundChatApp
			JSON json.RawMessage
		}
		err := json.Unmarshal(samplesJSON, &samples)
		panicUnless(err == nil, "samples.json: %v", err)
		for _, s := range samples {
			message := s.InboundChatApp
			message.JSON = string(s.JSON)
			if !yield(s.Sample, message) {
				return
			}
		}
	}
}
