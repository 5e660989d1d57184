package sandbox

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// words returns, by concept, what services call it, in lower case and without separators, the likeliest first.
func words() map[string][]string {
	return map[string][]string{
		"from":      {"from", "sender", "senderid", "source", "sourceaddress", "originator", "fromnumber", "sid", "mask"},
		"to":        {"to", "recipient", "recipients", "msisdn", "mobile", "mobilenumber", "phone", "phonenumber", "number", "destination", "dest", "receiver", "tonumber"},
		"text":      {"text", "message", "msg", "body", "content", "sms", "messagetext", "smstext", "textbody"},
		"channel":   {"channel", "channelid", "sender", "senderid", "from", "source", "account"},
		"callback":  {"callback", "callbackurl", "statuscallback", "statusurl", "notifyurl", "webhook", "webhookurl", "reporturl", "dlrurl"},
		"reference": {"reference", "ref", "clientref", "clientreference", "externalid", "customid", "correlationid", "messageref", "userref"},
		"ttl":       {"ttl", "validity", "validityperiod", "lifetime", "expiry"},
		"image":     {"image", "imageurl", "picture", "photo"},
		"video":     {"video", "videourl"},
		"caption":   {"caption", "buttontext", "buttonlabel", "button"},
		"url":       {"url", "action", "link", "buttonurl"},
		"template":  {"template", "templatename"},
		"params":    {"params", "parameters", "variables", "templatevalues"},
	}
}

// required lists the concepts that a message cannot be without.
func required(send table.Send) []string {
	if send.Wrap != nil {
		return nil // they are the platform's
	}
	return slices.DeleteFunc([]string{"from", "channel", "to", "text"}, func(concept string) bool {
		_, has := send.Fields[concept]
		return !has
	})
}

// hint returns the overlay of a contract that would take a refused request, as one line of JSON, or "" if it has no idea. It
// looks at the path, the credentials, the encoding and the names of fields.
func hint(t *table.Table, operation, method, path string, header http.Header, body []byte) string {
	overlay := map[string]any{}
	if auth := authHint(t, header); auth != nil {
		overlay["auth"] = auth
	}
	section := map[string]any{}
	if operation == "" {
		if operation = guessOperation(t, method, body); operation == "" || path == "/" {
			return ""
		}
		section["path"] = path
	}
	if operation == sectionList {
		if method == http.MethodPost && t.SMSList.Method == http.MethodGet {
			section["method"], section["encoding"] = method, encodingOf(header)
		}
	} else if send := sendSection(t, operation); send != nil && method == http.MethodPost {
		if e := encodingOf(header); e != send.Encoding && len(body) > 0 {
			section["encoding"] = e
		}
		fieldHints(section, *send, body)
	}
	if len(section) > 0 {
		overlay[operation] = section
	}
	text, err := json.Marshal(overlay)
	if err != nil || len(overlay) == 0 {
		return ""
	}
	if _, err := contract.Parse(text); err != nil {
		return ""
	}
	return string(text)
}

func encodingOf(header http.Header) string {
	if strings.Contains(header.Get("Content-Type"), "form-urlencoded") {
		return "form"
	}
	return "json"
}

// guessOperation returns the section that a request seems to mean.
func guessOperation(t *table.Table, method string, body []byte) string {
	switch method {
	case http.MethodGet:
		return sectionList
	case http.MethodPost:
	default:
		return ""
	}
	namesChannel := slices.ContainsFunc(namesIn("", body), func(name string) bool {
		return slices.Contains([]string{"channelid", "channel"}, plain(name))
	})
	for _, c := range table.Channels() {
		means := namesChannel && c.Send(t).Fields["channel"] != ""
		if c.IsPlatform(t) {
			means = document.Parse(body).At("messaging_product").Exists()
		}
		if means {
			return c.SendSection()
		}
	}
	return sectionSMS
}

// authHint returns what a contract says of credentials that stand elsewhere, or nil.
func authHint(t *table.Table, header http.Header) map[string]any {
	if value := header.Get(t.Auth.Token.Header); value != "" {
		scheme, _, found := strings.Cut(value, " ")
		switch {
		case !found:
			scheme = ""
		case strings.EqualFold(scheme, "Basic"):
			return map[string]any{"keyPair": map[string]any{"in": "basic"}}
		}
		if strings.EqualFold(scheme, t.Auth.Token.Scheme) {
			return nil
		}
		return map[string]any{"token": map[string]any{"scheme": scheme}}
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if slices.Contains([]string{"apikey", "xapikey", "xauthtoken", "accesstoken", "xaccesstoken", "authorization"}, plain(name)) {
			return map[string]any{"token": map[string]any{"header": name, "scheme": ""}}
		}
	}
	return nil
}

// fieldHints adds to a section the names of fields that seem to mean a concept, and what comes along with others.
func fieldHints(section map[string]any, send table.Send, body []byte) {
	names := namesIn("", body)
	if send.Wrap != nil {
		if wrapper := wrapperIn(body); wrapper != *send.Wrap && wrapper != "" {
			section["wrap"] = wrapper
		}
	}
	known := map[string]string{}
	invert(known, send.Fields)
	isKnown := func(name string) bool {
		for at := len(name); at > 0; at = strings.LastIndexByte(name[:at], '.') {
			if known[name[:at]] != "" {
				return true
			}
		}
		return false
	}
	free := slices.DeleteFunc(slices.Clone(names), isKnown)
	present := func(concept string) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			return n == send.Fields[concept] || strings.HasPrefix(n, send.Fields[concept]+".")
		})
	}
	fields := map[string]any{}
	concepts := required(send)
	for _, concept := range slices.Sorted(maps.Keys(send.Fields)) {
		if !slices.Contains(concepts, concept) {
			concepts = append(concepts, concept)
		}
	}
	for _, concept := range concepts {
		if _, has := send.Fields[concept]; !has || present(concept) {
			continue
		}
		if name := likeliest(words()[concept], free); name != "" {
			fields[concept] = name
			free = slices.DeleteFunc(free, func(n string) bool { return n == name })
		}
	}
	if len(fields) > 0 {
		section["fields"] = fields
	}
	if _, renamed := fields["callback"]; renamed || present("callback") {
		for name := range send.FieldConstants["callback"] {
			if !slices.Contains(names, name) {
				section["with"] = map[string]any{"callback": map[string]any{name: nil}}
			}
		}
	}
}

// likeliest returns the name whose last part is the earliest of these words, or "".
func likeliest(words, names []string) string {
	for _, word := range words {
		for _, name := range names {
			parts := strings.Split(name, ".")
			last := parts[len(parts)-1]
			if len(parts) > 1 && strings.Trim(last, "0123456789") == "" {
				last = parts[len(parts)-2] // an element of a list
			}
			if plain(last) == word {
				return name
			}
		}
	}
	return ""
}

// wrapperIn returns the name under which a body holds a message of the third-party platform, or "".
func wrapperIn(body []byte) string {
	o := document.Parse(body).Object()
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if (document.Node{Value: o[name]}).At("messaging_product").Exists() {
			return name
		}
	}
	return ""
}

// plain returns a name in lower case without separators.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}
