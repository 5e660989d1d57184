package learn

import (
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
)

// The sections of an overlay that have notes.
const (
	sectionAuth     = "auth"
	sectionErrors   = "errors"
	sectionSend     = "sms.send"
	sectionList     = "sms.list"
	sectionInbound  = "webhook.sms"
	sectionDelivery = "webhook.delivery"
)

// overlay is the overlay that is learned. In its JSON, an absent member leaves the default contract as it is, and
// an empty text or list replaces it.
type overlay struct {
	Auth     auth              `json:"auth,omitzero"`
	Headers  map[string]string `json:"headers,omitempty"`
	Errors   errorNames        `json:"errors,omitzero"`
	Send     sendNames         `json:"sms.send,omitzero"`
	List     listNames         `json:"sms.list,omitzero"`
	Inbound  callbackNames     `json:"webhook.sms,omitzero"`
	Delivery deliveryNames     `json:"webhook.delivery,omitzero"`

	notes

	defaults *table.Table // what an absent member leaves as it is
}

type auth struct {
	Token   token   `json:"token,omitzero"`
	KeyPair keyPair `json:"keyPair,omitzero"`
}

type token struct {
	Header string  `json:"header,omitempty"`
	Scheme *string `json:"scheme,omitempty"` // "" writes the token alone
}

type keyPair struct {
	In     string  `json:"in,omitempty"`
	Key    string  `json:"key,omitempty"`
	Secret *string `json:"secret,omitempty"` // "" if a key is enough
}

type errorNames struct {
	Code    []string `json:"code,omitzero"`
	Message []string `json:"message,omitzero"`
	Request []string `json:"request,omitzero"`
	Success []string `json:"success,omitzero"`
	Classes words    `json:"classes,omitempty"`
}

type sendNames struct {
	Path      string            `json:"path"`
	Encoding  string            `json:"encoding,omitempty"`
	Fields    map[string]string `json:"fields,omitempty"` // the path of each concept; "" if the service does not take it
	Constants map[string]any    `json:"constants,omitempty"`
	With      with              `json:"with"`
	Response  words             `json:"response,omitempty"` // the paths of each concept
	Accepted  []string          `json:"accepted,omitzero"`
	Refused   []string          `json:"refused,omitzero"`
}

// with has the constants that are sent only if a message has a field.
type with struct {
	Callback map[string]any `json:"callback"`
}

type listNames struct {
	Path     string            `json:"path,omitempty"`
	Method   string            `json:"method,omitempty"`
	Encoding string            `json:"encoding,omitempty"`
	Params   map[string]string `json:"params,omitempty"` // the name of each filter
	Items    []string          `json:"items,omitzero"`
	Record   words             `json:"record,omitempty"` // the paths of each concept
	Paging   *paging           `json:"paging,omitempty"`
	Page     words             `json:"page,omitempty"` // the paths of each concept
	Sorts    map[string]string `json:"sorts,omitempty"`
	Orders   map[string]string `json:"orders,omitempty"`
	Time     string            `json:"time,omitempty"`
	Layouts  []string          `json:"layouts,omitempty"`
}

type paging struct {
	By    string `json:"by"`
	First *int   `json:"first,omitempty"`
	Whole bool   `json:"whole,omitempty"`
}

type callbackNames struct {
	Encoding string   `json:"encoding,omitempty"`
	Events   []string `json:"events,omitzero"`
	Params   words    `json:"params,omitempty"` // the names of each concept
}

type deliveryNames struct {
	callbackNames

	Statuses     words             `json:"statuses,omitempty"`     // the words of each meaning
	Placeholders map[string]string `json:"placeholders,omitempty"` // the text of each concept in a callback URL; "" if the service has none
}

func newOverlay() *overlay {
	return &overlay{
		Headers: map[string]string{},
		Send: sendNames{
			Fields:    map[string]string{},
			Constants: map[string]any{},
			With:      with{Callback: map[string]any{}},
			Response:  words{},
		},
		List:     listNames{Params: map[string]string{}, Record: words{}},
		Inbound:  callbackNames{Params: words{}},
		Delivery: deliveryNames{callbackNames: callbackNames{Params: words{}}, Statuses: words{}},
		defaults: table.Default(),
	}
}

// words are lists of paths, names or codes, by the concept or the class that they belong to.
type words map[string][]string

// add adds a word to a list, unless the list has it.
func (w words) add(key, word string) { w[key] = appendNew(w[key], word) }

// appendNew appends a text to a list, unless the list has it.
func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(slices.Clone(list), text)
}

// has reports whether one of the lists has a word.
func (w words) has(word string) bool {
	for _, list := range w {
		if slices.Contains(list, word) {
			return true
		}
	}
	return false
}

// orDefault returns the list of a key, or the default one if the key was not learned.
func (w words) orDefault(key string, defaults map[string][]string) []string {
	if list, isLearned := w[key]; isLearned {
		return list
	}
	return defaults[key]
}

// removeTaken adds the default paths of concepts that were not learned and have a learned path among them, without the learned ones.
func (w words) removeTaken(defaults map[string][]string) {
	known := maps.Clone(w)
	for concept, paths := range defaults {
		_, isLearned := known[concept]
		if !isLearned && slices.ContainsFunc(paths, known.has) {
			w[concept] = slices.DeleteFunc(slices.Clone(paths), known.has)
		}
	}
}

// text returns the overlay as JSON with its notes, and with each list on one line.
func (o *overlay) text() string {
	root := document.Parse([]byte(document.Encode(o))).Object()
	o.addTo(root)
	return indented(root, "")
}

func indented(value any, indent string) string {
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			return "{}"
		}
		const step = "  "
		var lines []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			lines = append(lines, indent+step+document.Encode(key)+": "+indented(value[key], indent+step))
		}
		return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
	case []any:
		var elements []string
		for _, element := range value {
			elements = append(elements, document.Encode(element))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	default:
		return document.Encode(value)
	}
}
