package sandbox

import (
	"net/http"
	"net/url"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
)

// sectionList is the section of a contract that lists.
const sectionList = "sms.list"

// operationNames returns the sections of a contract that are requests to the service.
func operationNames() []string {
	var names []string
	for _, c := range table.Channels() {
		names = append(names, c.SendSection())
	}
	return append(names, sectionList)
}

// operationAt returns the section of the contract that a method and a path belong to, or "". A send and the listing may share a path.
func operationAt(t *table.Table, method, path string) string {
	for _, c := range table.Channels() {
		if method == http.MethodPost && c.Send(t).Matches(path) {
			return c.SendSection()
		}
	}
	if method == t.SMSList.Method && t.SMSList.Matches(path) {
		return sectionList
	}
	return ""
}

// isServicePath reports whether a path belongs to an operation of the contract, by any method.
func isServicePath(t *table.Table, path string) bool {
	for _, c := range table.Channels() {
		if c.Send(t).Matches(path) {
			return true
		}
	}
	return t.SMSList.Matches(path)
}

// formNode returns the body of a request as a node, be it JSON or a form.
func formNode(raw []byte) document.Node {
	if n := document.Parse(raw); n.Object() != nil {
		return n
	}
	values, err := url.ParseQuery(string(raw))
	if err != nil {
		return document.Node{}
	}
	o := map[string]any{}
	for name := range values {
		o[name] = values.Get(name)
	}
	return document.Node{Value: o}
}

// fieldIn returns the field of a concept in a body. A name of a form may have dots.
func fieldIn(body document.Node, send *table.Send, concept string) document.Node {
	name := send.Fields[concept]
	if name == "" {
		return document.Node{}
	}
	if n := body.At(name); n.Exists() {
		return n
	}
	return document.Node{Value: body.Object()[name]}
}

// platformMessage returns the object of the third-party platform in a body.
func platformMessage(body document.Node, wrap *string) document.Node {
	if wrap != nil && *wrap != "" {
		if inner := body.At(*wrap); inner.Exists() {
			return inner
		}
	}
	return body
}
