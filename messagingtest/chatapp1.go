package messagingtest

import "slices"

// payload is one kind of chat-app-1 message.
type payload struct {
	kind  string
	marks []string // concepts, each of which says that the message is of this kind
	rules []rule
}

// payloads returns all kinds, in the order in which they are tried: text and image are also parts of a call to action.
func payloads() []payload {
	return []payload{
		{"call_to_action", []string{"caption", "url"}, []rule{
			need("text", isFilled), need("caption", isFilled), need("url", isLink), may("image", isLink),
		}},
		{"template", []string{"template", "params", "language"}, []rule{
			need("template", isFilled), may("params", isTexts), may("language", isFilled),
		}},
		{"video", []string{"video", "thumbnail", "duration", "size"}, []rule{
			need("video", isLink), may("thumbnail", isLink), may("duration", isPositive), may("size", isCount),
		}},
		{"image", []string{"image"}, []rule{need("image", isLink)}},
		{"text", []string{"text"}, []rule{need("text", isFilled)}},
	}
}

func readChatApp1(f fields) (submission, *problem) {
	p := f.check(need("channel", isFilled), need("to", isRecipient))
	if p != nil {
		return submission{}, p
	}
	kind, p := f.readPayload()
	if p != nil {
		return submission{}, p
	}
	p = f.checkChatApp()
	m := f.message(ChannelChatApp1)
	m.Kind = kind
	return submission{Sent: m}, p
}

// readPayload returns the kind of a message that has exactly one payload.
func (f fields) readPayload() (kind string, p *problem) {
	all := payloads()
	i := slices.IndexFunc(all, func(p payload) bool { return slices.ContainsFunc(p.marks, f.has) })
	if i < 0 {
		return "", &problem{codePayload, "there is no payload"}
	}
	for _, other := range all {
		for _, concept := range other.marks {
			belongs := slices.ContainsFunc(all[i].rules, func(r rule) bool { return r.member == concept })
			if f.has(concept) && !belongs {
				return "", &problem{codePayload, f.name(concept) + " does not belong to a payload of the kind " + all[i].kind}
			}
		}
	}
	return all[i].kind, f.check(all[i].rules...)
}
