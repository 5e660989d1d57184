package chatapp2

import (
	"unicode"
)

// Reaction puts an emoji on a message of the recipient's, or takes it away again.
type Reaction struct {
	// MessageID is the platform's ID of that message, such as "wamid.HBg...". Required.
	MessageID string
	// Emoji is one emoji. Empty removes the reaction.
	Emoji string

	noEmoji bool // a body that was read lacked it, which does not remove anything
}

type reactionBody struct {
	MessageID string  `json:"message_id,omitzero"`
	Emoji     *string `json:"emoji,omitzero"`
}

func readReaction(value any) (Reaction, bool) {
	var b reactionBody
	if !fill(value, &b) {
		return Reaction{}, false
	}
	r := Reaction{MessageID: b.MessageID, noEmoji: b.Emoji == nil}
	if b.Emoji != nil {
		r.Emoji = *b.Emoji
	}
	return r, true
}

func (Reaction) kind() string { return typeReaction }

func (r Reaction) content() any {
	b := reactionBody{MessageID: r.MessageID}
	if !r.noEmoji {
		b.Emoji = &r.Emoji
	}
	return b
}

func (r Reaction) check(c *checks, path string) {
	c.required(path+".MessageID", r.MessageID, 0)
	c.text(path+".Emoji", r.Emoji, 0)
	switch {
	case r.noEmoji:
		c.found(path+".Emoji", "required, but absent; an empty one removes the reaction")
	case r.Emoji != "" && !isEmoji(r.Emoji):
		c.limit(path+".Emoji", "want one emoji, or none to remove the reaction")
	}
}

// isEmoji tells of one emoji: a pictograph with what modifies it, a flag, a keycap, or several that are joined.
func isEmoji(s string) bool {
	const joiner, presentation, keycap = '\u200d', '\ufe0f', '\u20e3'
	runes := []rune(s)
	joined := true // an emoji may begin
	regional := 0
	for _, r := range runes {
		switch {
		case r == joiner:
			if joined {
				return false
			}
			joined = true
		case r == presentation, r == keycap, r >= 0x1f3fb && r <= 0x1f3ff && !joined, r >= 0xe0020 && r <= 0xe007f: // modifies
			if joined {
				return false
			}
		case r >= 0x1f1e6 && r <= 0x1f1ff: // half a flag
			if regional++; regional > 2 || !joined && regional == 1 {
				return false
			}
			joined = false
		case !joined || !isPictograph(r) && (len(runes) == 1 || runes[len(runes)-1] != keycap):
			return false
		default:
			joined = false
		}
	}
	return !joined && regional != 1
}

func isPictograph(r rune) bool {
	return unicode.Is(unicode.So, r) || r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x21ff || r >= 0x25a0 && r <= 0x2bff ||
		r == 0x203c || r == 0x2049 || r == 0x2122 || r == 0x2139 || r == 0x3030 || r == 0x303d
}
