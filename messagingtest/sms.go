package messagingtest

import (
	"net/url"
	"strings"
)

// Names of the fields of an SMS, as the default contract has them. The specification shows none of them.
const (
	fieldFrom = "from"
	fieldTo   = "to"
	fieldText = "text"
)

// readSMS returns the message, or the first thing that is wrong with it.
func readSMS(fields object) (message submission, wrong flaw) {
	message.Channel, message.Kind = ChannelSMS, kindText
	if wrong = fields.readStrings(
		stringField{fieldFrom, &message.From},
		stringField{fieldTo, &message.To},
		stringField{fieldText, &message.Text},
		stringField{fieldCallback, &message.CallbackURL},
		stringField{fieldReference, &message.ReferenceID},
	); wrong.found() {
		return message, wrong
	}
	switch {
	case message.From == "":
		return message, flaw{codeMissing, "from is absent or empty"}
	case message.To == "":
		return message, flaw{codeMissing, "to is absent or empty"}
	case message.Text == "":
		return message, flaw{codeMissing, "text is absent or empty"}
	case !isRecipient(message.To):
		return message, flaw{codeRecipient, notRecipient}
	}
	message.Extra = fields.extra(isFieldOfSMS)
	message.Parts = countParts(message.Text)
	return message, fields.checkCallback(message.CallbackURL)
}

func isFieldOfSMS(name string) bool {
	switch name {
	case fieldFrom, fieldTo, fieldText, fieldCallback, fieldReport, fieldReference:
		return true
	default:
		return false
	}
}

const notRecipient = "to is not 5 to 15 digits with an optional +"

func isRecipient(s string) bool {
	digits := strings.TrimPrefix(s, "+")
	return len(digits) >= 5 && len(digits) <= 15 && strings.Trim(digits, "0123456789") == ""
}

// isWebAddress looks at the scheme and the host only. What follows is a template: its placeholders, such as %s, need
// not be valid escapes.
func isWebAddress(s string) bool {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return false
	}
	scheme, rest, _ := strings.Cut(s, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	u, err := url.Parse(scheme + "://" + rest)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// isURL is for an address that is no template.
func isURL(s string) bool {
	_, err := url.Parse(s)
	return err == nil && isWebAddress(s)
}
