package inbox

import (
	"encoding/json"
	"fmt"

	"github.com/messaging-service/messaging-go/webhook"
)

// storedContent is the content of a chat-app message with the name of its type.
type storedContent struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// newStoredContent encodes content. For a type that this program does not know it stores raw, the JSON that the message came as.
func newStoredContent(content webhook.Content, raw json.RawMessage) (storedContent, error) {
	var name string
	var value any = content
	switch c := content.(type) {
	case webhook.Text:
		name = "text"
	case webhook.Media:
		name = "media"
	case webhook.Location:
		name = "location"
	case webhook.Contacts:
		name = "contacts"
	case webhook.Reply:
		name = "reply"
		c.CallPermission.ExpiresAt = jsonTime(c.CallPermission.ExpiresAt)
		value = c
	case webhook.Reaction:
		name = "reaction"
	case webhook.Order:
		name = "order"
	case webhook.System:
		name = "system"
		c.IdentityChangedAt = jsonTime(c.IdentityChangedAt)
		value = c
	case webhook.Unknown:
		name = "unknown"
	default: // a type of a newer version of the library
		name = "unknown"
		value = webhook.Unknown{Kind: fmt.Sprintf("%T", content), Raw: raw}
	}
	encoded, err := json.Marshal(value)
	return storedContent{Type: name, Value: encoded}, err
}

func (s storedContent) content() (webhook.Content, error) {
	switch s.Type {
	case "text":
		return contentAs[webhook.Text](s.Value)
	case "media":
		return contentAs[webhook.Media](s.Value)
	case "location":
		return contentAs[webhook.Location](s.Value)
	case "contacts":
		return contentAs[webhook.Contacts](s.Value)
	case "reply":
		return contentAs[webhook.Reply](s.Value)
	case "reaction":
		return contentAs[webhook.Reaction](s.Value)
	case "order":
		return contentAs[webhook.Order](s.Value)
	case "system":
		return contentAs[webhook.System](s.Value)
	case "unknown":
		unknown, err := contentAs[webhook.Unknown](s.Value)
		if c, ok := unknown.(webhook.Unknown); ok && string(c.Raw) == "null" {
			return webhook.Unknown{Kind: c.Kind}, err // the message came without JSON
		}
		return unknown, err
	default:
		return nil, ErrBadEvent
	}
}

func contentAs[C webhook.Content](data []byte) (webhook.Content, error) {
	var content C
	err := json.Unmarshal(data, &content)
	return content, err
}
