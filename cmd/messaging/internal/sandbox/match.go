package sandbox

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// A Match is a name in an exchange and the concept of the contract that it matched, or "" if none.
type Match struct {
	Where   string `json:"where"` // "request" or "response"
	Name    string `json:"name"`
	Concept string `json:"concept"`
}

// maxMatches bounds what one exchange shows.
const maxMatches = 200

// The sections of a contract.
const (
	sectionSMS      = "sms.send"
	sectionList     = "sms.list"
	sectionChatApp1 = "chatapp1.send"
	sectionChatApp2 = "chatapp2.send"
)

// operationAt returns the section of the contract that a path belongs to, or "".
func operationAt(t *table.Table, path string) string {
	for _, c := range table.Channels() {
		if path == c.Send(t).Path {
			return c.SendSection()
		}
	}
	if path == t.SMSList.Path {
		return sectionList
	}
	return ""
}

// sendSection returns a section that sends, or nil.
func sendSection(t *table.Table, operation string) *table.Send {
	for _, c := range table.Channels() {
		if operation == c.SendSection() {
			return c.Send(t)
		}
	}
	return nil
}

// isPlatform reports whether the requests of a section hold a message of the third-party platform.
func isPlatform(t *table.Table, operation string) bool {
	send := sendSection(t, operation)
	return send != nil && send.Wrap != nil
}

// matches returns which names of an exchange matched which concepts.
func matches(t *table.Table, operation string, header http.Header, query string, request, response []byte) []Match {
	concepts := map[string]string{}
	paths := map[string][]string{}
	if send := sendSection(t, operation); send != nil {
		invert(concepts, send.Fields)
		for concept, with := range send.With {
			for name := range with {
				concepts[name] = "with " + concept
			}
		}
		for name := range send.Constants {
			concepts[name] = "constant"
		}
		paths = send.Response
	}
	if operation == sectionList {
		invert(concepts, t.SMSList.Params)
		paths = t.SMSList.Page
	}
	for name, concept := range map[string]string{t.Auth.KeyPair.Key: "API key", t.Auth.KeyPair.Secret: "API secret"} {
		if name != "" {
			concepts[name] = concept
		}
	}
	var found []Match
	if name := t.Auth.Token.Header; header.Get(name) != "" {
		found = append(found, Match{"request", name, "token"})
	}
	found = append(found, matchNames("request", namesIn(query, request), concepts, isPlatform(t, operation))...)
	body := document.Parse(response)
	all := maps.Clone(paths)
	if all == nil {
		all = map[string][]string{}
	}
	maps.Copy(all, map[string][]string{"error code": t.Errors.Code, "error message": t.Errors.Message, "request": t.Errors.Request})
	for _, concept := range slices.Sorted(maps.Keys(all)) {
		for _, path := range all[concept] {
			if path != "" && body.At(path).Exists() {
				found = append(found, Match{"response", path, concept})
				break
			}
		}
	}
	return found[:min(len(found), maxMatches)]
}

func invert(concepts, names map[string]string) {
	for concept, name := range names {
		if name != "" {
			concepts[name] = concept
		}
	}
}

// matchNames matches the names of a request. What is below a name that matched belongs to it, and what the third-party
// platform names is no matter of the contract.
func matchNames(where string, names []string, concepts map[string]string, isPlatform bool) []Match {
	var found []Match
	seen := map[string]bool{}
	for _, name := range names {
		match := Match{Where: where, Name: name}
		for at := len(name); at > 0; at = strings.LastIndexByte(name[:at], '.') {
			if concept := concepts[name[:at]]; concept != "" {
				match = Match{where, name[:at], concept}
				break
			}
		}
		if match.Concept == "" && isPlatform {
			top, _, _ := strings.Cut(name, ".")
			match = Match{where, top, "content (of the platform)"}
		}
		if !seen[match.Name] {
			seen[match.Name] = true
			found = append(found, match)
		}
	}
	return found
}

// namesIn returns the names in a query and a body, sorted: of a JSON body the paths of its values.
func namesIn(query string, body []byte) []string {
	values, _ := url.ParseQuery(query)
	names := slices.Collect(maps.Keys(values))
	if n := document.Parse(body); n.Object() != nil {
		names = leaves(names, "", n.Value, 0)
	} else if form, err := url.ParseQuery(string(body)); err == nil && len(body) > 0 && !json.Valid(body) {
		names = slices.AppendSeq(names, maps.Keys(form))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// leaves appends the paths of the values in a document.
func leaves(names []string, path string, value any, depth int) []string {
	const maxDepth = 20
	if len(names) > maxMatches || depth > maxDepth {
		return names
	}
	join := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			names = leaves(names, join(name), v[name], depth+1)
		}
		return names
	case []any:
		for i, element := range v {
			names = leaves(names, join(itoa(i)), element, depth+1)
		}
		return names
	}
	return append(names, path)
}

// valueIn returns the text at a name of a body, be it JSON or a form.
func valueIn(body []byte, name string) string {
	n := formNode(body)
	if text := n.At(name).Text(); text != "" {
		return text
	}
	text, _ := n.Object()[name].(string)
	return text
}

// callbackIn returns the callback URL in a request.
func callbackIn(t *table.Table, operation string, body []byte) string {
	send := sendSection(t, operation)
	if send == nil || send.Fields["callback"] == "" {
		return ""
	}
	return valueIn(body, send.Fields["callback"])
}

// callbackMatches returns which parameters of a callback matched which concepts.
func (s *Sandbox) callbackMatches(reply messagingtest.Reply) []Match {
	var params map[string][]string
	switch callback := reply.Callback.(type) {
	case messagingtest.InboundSMS:
		params = s.table.WebhookSMS.Params
	case messagingtest.InboundChatApp:
		params = s.table.Webhooks()[string(cmp.Or(callback.Channel, messagingtest.ChannelChatApp1))].Params
	case messagingtest.DeliveryReport:
		params = s.table.WebhookDelivery.Params
	case messagingtest.Callbacks: // a reply is to one
	}
	concepts := map[string]string{}
	for _, concept := range slices.Sorted(maps.Keys(params)) {
		for _, name := range params[concept] {
			if concepts[name] == "" {
				concepts[name] = concept
			}
		}
	}
	return matchNames("request", namesIn(reply.Request.URL.RawQuery, []byte(reply.RequestBody)), concepts, false)
}
