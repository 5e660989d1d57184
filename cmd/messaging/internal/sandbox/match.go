package sandbox

import (
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
	Value   string `json:"value"` // the beginning, decoded, without secrets
}

// maxMatches bounds what one exchange shows.
const maxMatches = 200

// The sections of a contract.
const (
	sectionSMS  = "sms.send"
	sectionList = "sms.list"
)

// operationNames returns the sections of a contract that are requests to the service.
func operationNames() []string {
	var names []string
	for _, c := range table.Channels() {
		names = append(names, c.SendSection())
	}
	return append(names, sectionList)
}

// operationAt returns the section of the contract that a path belongs to, or "".
func operationAt(t *table.Table, path string) string {
	for _, c := range table.Channels() {
		if c.Send(t).Matches(path) {
			return c.SendSection()
		}
	}
	if t.SMSList.Matches(path) {
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
		for concept, with := range send.FieldConstants {
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
	found := []Match{}
	if name := t.Auth.Token.Header; header.Get(name) != "" {
		found = append(found, Match{"request", name, "token", masked})
	}
	found = append(found, matchNames("request", membersIn(query, request), concepts, isPlatform(t, operation))...)
	body := document.Parse(response)
	all := maps.Clone(paths)
	if all == nil {
		all = map[string][]string{}
	}
	maps.Copy(all, map[string][]string{"error code": t.Errors.Code, "error message": t.Errors.Message, "request": t.Errors.Request})
	for _, concept := range slices.Sorted(maps.Keys(all)) {
		for _, path := range all[concept] {
			if n := body.At(path); path != "" && n.Exists() {
				found = append(found, Match{"response", path, concept, clip(n.Text(), previewText)})
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

// A member is a name in a query or a body, and its value.
type member struct{ name, value string }

// matchNames matches the names of a request. What is below a name that matched belongs to it, and what the third-party
// platform names is no matter of the contract.
func matchNames(where string, members []member, concepts map[string]string, isPlatform bool) []Match {
	found := []Match{}
	seen := map[string]bool{}
	for _, m := range members {
		match := Match{where, m.name, "", m.value}
		for at := len(m.name); at > 0; at = strings.LastIndexByte(m.name[:at], '.') {
			if concept := concepts[m.name[:at]]; concept != "" {
				match.Name, match.Concept = m.name[:at], concept
				break
			}
		}
		if match.Concept == "" && isPlatform {
			match.Name, _, _ = strings.Cut(m.name, ".")
			match.Concept = "content (of the platform)"
		}
		if match.Name != m.name {
			match.Value = "" // of several
		}
		if !seen[match.Name] {
			seen[match.Name] = true
			found = append(found, match)
		}
	}
	return found
}

// membersIn returns the members of a query and a body by name, the first of each: of a JSON body the paths of its values. There are
// no more than a page shows, and long names are left out: nothing here costs more than reading the request.
func membersIn(query string, body []byte) []member {
	members := pairs(nil, query)
	if n := document.Parse(body); n.Object() != nil {
		members = leaves(members, "", n.Value, 0)
	} else if len(body) > 0 && !json.Valid(body) {
		members = pairs(members, string(body))
	}
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(members, func(a, b member) bool { return a.name == b.name })
}

// namesIn returns the names of the members of a query and a body.
func namesIn(query string, body []byte) []string {
	var names []string
	for _, m := range membersIn(query, body) {
		names = append(names, m.name)
	}
	return names
}

// pairs appends the parameters of a query or a form.
func pairs(members []member, query string) []member {
	for pair := range strings.SplitSeq(query, "&") {
		if len(members) > maxMatches {
			break
		}
		name, value, _ := strings.Cut(pair, "=")
		if len(name) > 3*maxName { // a byte is three characters at most
			continue
		}
		name, err := url.QueryUnescape(name)
		if err != nil || name == "" || len(name) > maxName {
			continue
		}
		text, err := url.QueryUnescape(value)
		if err != nil {
			text = value
		}
		members = append(members, member{name, clip(text, previewText)})
	}
	return members
}

// leaves appends the paths of the values in a document.
func leaves(members []member, path string, value any, depth int) []member {
	const maxDepth = 20
	if len(members) > maxMatches || depth > maxDepth || len(path) > maxName {
		return members
	}
	join := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if len(name) <= maxName {
				members = leaves(members, join(name), v[name], depth+1)
			}
		}
		return members
	case []any:
		for i, element := range v[:min(len(v), maxMatches)] {
			members = leaves(members, join(itoa(i)), element, depth+1)
		}
		return members
	}
	return append(members, member{path, clip(document.Node{Value: value}.Text(), previewText)})
}

// valueAt returns the text at a name of a body, be it JSON or a form.
func valueAt(n document.Node, name string) string {
	if name == "" {
		return ""
	}
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
	return valueAt(formNode(body), send.Fields["callback"])
}

// callbackMatches returns which parameters of a callback matched which concepts. Parameters with the names of secrets are masked.
func (s *Sandbox) callbackMatches(reply messagingtest.Reply, secrets []string) []Match {
	var params map[string][]string
	switch c := reply.Callback.(type) {
	case messagingtest.InboundSMS:
		params = s.table.WebhookSMS.Params
	case messagingtest.InboundChatApp:
		params = s.table.Webhooks()[string(c.Channel)].Params
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
	found := matchNames("request", membersIn(reply.Request.URL.RawQuery, parsed([]byte(reply.RequestBody))), concepts, false)
	for i := range found {
		if slices.Contains(secrets, found[i].Name) {
			found[i].Value = masked
		}
	}
	return found[:min(len(found), maxMatches)]
}
