package doctor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// scrambler replaces values by others of the same shape, the same value by the same everywhere. It keeps times, small numbers, and
// the words of the contract.
type scrambler struct {
	*doctor

	replaced map[string]string // by text
	taken    map[string]bool   // the texts that took a place
}

func (d *doctor) newScrambler() *scrambler {
	return &scrambler{d, map[string]string{}, map[string]bool{}}
}

// isWord reports whether a text is a word of the contract.
func (s *scrambler) isWord(text string) bool {
	t := s.table
	class, _ := table.Meaning(t.Errors.Classes, text, true)
	status, _ := table.Meaning(t.WebhookDelivery.Statuses, text, true)
	words := slices.Concat(t.SMSSend.Accepted, t.SMSSend.Refused, t.Errors.Success, slices.Collect(maps.Values(t.SMSList.Orders)))
	return class != "" || status != "" || table.Match(words, text, true) >= 0
}

// value returns what stands in the place of a text, which is a time if it looks like one and asTime says that it may be one.
func (s *scrambler) value(text string, asTime bool) string {
	const small, smallAmount = 2, 6
	for _, secret := range s.secrets {
		if strings.Contains(text, secret) {
			return "REDACTED"
		}
	}
	switch {
	case text == "" || s.replaced[text] != "":
		return s.replaced[text]
	case s.sensitive[text]:
	case isCode(text) && s.isWord(text), text == "true", text == "false":
		return text
	case isDecimal.MatchString(text) && (len(text) <= small || strings.Contains(text, ".") && len(text) <= smallAmount):
		return text
	case isTime(text) || asTime && timeForm(text) != "":
		return text
	case isURL.MatchString(text) || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "?"):
		return s.link(text)
	}
	const tries = 100
	var other string
	for range tries {
		if other = scramble(text); !s.taken[other] && other != text {
			break
		}
	}
	s.replaced[text], s.taken[other] = other, true
	return other
}

// link returns a link with other values in its query. One to the service stays a link to the service, wherever that is.
func (s *scrambler) link(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host != "" && u.Host != s.base.Host {
		return "https://example.com/" + scramble("a-link")
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: s.values(u.Query()).Encode()}).String()
}

// scramble returns a text with other letters and digits.
func scramble(text string) string {
	pick := func(first, last rune) rune { return first + rand.Int32N(last-first+1) } //nolint:gosec // not to be told from others by its look
	return strings.Map(func(r rune) rune {
		switch {
		case '0' <= r && r <= '9':
			return pick('1', '9')
		case 'a' <= r && r <= 'z':
			return pick('a', 'z')
		case 'A' <= r && r <= 'Z':
			return pick('A', 'Z')
		case r < unicode.MaxASCII:
			return r
		case utf8.RuneLen(r) == 2:
			return 'é'
		default:
			return '世'
		}
	}, text)
}

func (s *scrambler) values(v url.Values) url.Values {
	if len(v) == 0 {
		return nil
	}
	changed := url.Values{}
	for name, values := range v {
		for _, value := range values {
			changed.Add(s.name(name), s.value(value, true))
		}
	}
	return changed
}

func (s *scrambler) name(name string) string {
	if isPlainName(strings.NewReplacer(".", "", "[", "", "]", "", "$", "").Replace(name)) && !s.sensitive[name] {
		return name
	}
	return s.value(name, false)
}

// json replaces the values of a document. asTime says that the value may be a number of seconds.
func (s *scrambler) json(value any, asTime bool) any {
	switch v := value.(type) {
	case string:
		return s.value(v, asTime)
	case json.Number:
		const small = 4
		if len(v) <= small && !s.sensitive[v.String()] {
			return v
		}
		changed := s.value(v.String(), asTime)
		if !json.Valid([]byte(changed)) {
			changed = "0"
		}
		return json.Number(changed)
	case []any:
		for i := range v {
			v[i] = s.json(v[i], asTime)
		}
	case map[string]any:
		changed := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			changed[s.name(name)] = s.json(v[name], saysTime(name))
		}
		return changed
	}
	return value
}

// saysTime reports whether a name is one of a time.
func saysTime(name string) bool {
	g := guesser{known: readVocabulary().sets["time"]}
	return slices.ContainsFunc(g.split(name), func(word string) bool { return g.known[word] })
}

// body returns a body as a fixture has it.
func (s *scrambler) body(raw []byte, contentType string) messagingtest.RecordedBody {
	doc, err := parse(raw)
	switch {
	case len(raw) == 0:
		return messagingtest.RecordedBody{}
	case err == nil:
		return messagingtest.RecordedBody{JSON: json.RawMessage(document.Encode(s.json(doc.Value, false)))}
	case strings.Contains(contentType, "form-urlencoded"):
		if form, err := url.ParseQuery(string(raw)); err == nil {
			return messagingtest.RecordedBody{Text: s.values(form).Encode()}
		}
	}
	tag := "<html>"
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '<' {
		tag = "not JSON: "
	}
	return messagingtest.RecordedBody{Text: fmt.Sprintf("%s%d bytes", tag, len(raw))}
}

func header(h http.Header) http.Header {
	kept := http.Header{}
	for _, name := range []string{"Content-Type", "Retry-After"} {
		if value := h.Get(name); value != "" {
			kept.Set(name, value)
		}
	}
	return kept
}

// fixture returns an exchange as messagingtest.Replay reads it.
func (s *scrambler) fixture(x *exchange) messagingtest.Exchange {
	path := strings.TrimPrefix(x.url.EscapedPath(), strings.TrimSuffix(s.base.EscapedPath(), "/"))
	for _, secret := range s.secrets {
		path = strings.ReplaceAll(path, secret, "REDACTED")
	}
	return messagingtest.Exchange{
		Operation: x.operation,
		Request: messagingtest.RecordedRequest{
			Method: x.method, Path: path, Query: s.values(x.url.Query()), Header: header(x.request),
			RecordedBody: s.body(x.sent, x.request.Get("Content-Type")),
		},
		Response: messagingtest.RecordedResponse{
			Status: x.status, Header: header(x.response), RecordedBody: s.body(x.body.Bytes(), x.response.Get("Content-Type")),
		},
	}
}

// write writes the exchanges that have a whole response to a folder, and returns how many.
func (s *scrambler) write(dir string, exchanges []*exchange) (written int, err error) {
	for _, x := range exchanges {
		if x.status < http.StatusOK || x.cut {
			continue
		}
		written++
		name := filepath.Join(dir, fmt.Sprintf("%03d-%s.json", written, x.operation))
		if err := os.WriteFile(name, []byte(document.Node{Value: s.fixture(x)}.Indented()+"\n"), 0o600); err != nil {
			return written, err
		}
	}
	return written, nil
}
