package chatapp2

import "unicode"

// Reaction puts an emoji on a message of the recipient, or removes it.
type Reaction struct {
	// MessageID is the platform's ID of that message, such as "wamid.HBg...". Required.
	MessageID string `at:"message_id,required"`
	// Emoji is one emoji. Empty removes the reaction.
	Emoji string `at:"emoji!"`
}

func (r Reaction) check(c *checks) {
	if r.Emoji != "" && !isEmoji(r.Emoji) {
		c.Limit("Emoji", "want one emoji, or none to remove the reaction")
	}
}

// isEmoji reports whether s is one emoji: a pictograph with its modifiers, a flag, a keycap, or several joined ones.
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
		case r == presentation, r == keycap, r >= 0x1f3fb && r <= 0x1f3ff && !joined, r >= 0xe0020 && r <= 0xe007f: // modifiers
			if joined {
				return false
			}
		case r >= 0x1f1e6 && r <= 0x1f1ff: // half a flag
			if regional++; regional > 2 || !joined && regional == 1 {
				return false
			}
			joined = false
		case !joined || !isPictograph(r) && runes[len(runes)-1] != keycap:
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
