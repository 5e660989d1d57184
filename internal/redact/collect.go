package redact

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// AddValue adds the strings in a value that encoding/json encodes, other than those under the key "type".
func (s *Secrets) AddValue(value any) {
	raw, _ := json.Marshal(value)
	var decoded any
	_ = json.Unmarshal(raw, &decoded) // a value without JSON is not sent
	s.addDecoded(decoded)
}

func (s *Secrets) addDecoded(value any) {
	switch v := value.(type) {
	case string:
		s.AddText(v)
	case []any:
		for _, element := range v {
			s.addDecoded(element)
		}
	case map[string]any:
		for key, element := range v {
			if key != "type" {
				s.addDecoded(element)
			}
		}
	}
}

// AddRequest adds the possible credentials of a request: the values of its headers and of its query.
func (s *Secrets) AddRequest(r *http.Request) {
	for name, values := range r.Header {
		if slices.Contains([]string{"Accept", "Cache-Control", "Content-Type", "User-Agent"}, name) {
			continue
		}
		for _, value := range values {
			s.AddCredential(value)
			if _, credential, hasSpace := strings.Cut(value, " "); hasSpace {
				s.AddCredential(credential) // the value may begin with a scheme
			}
		}
	}
	if user, password, ok := r.BasicAuth(); ok {
		s.AddCredential(user)
		s.AddCredential(password)
	}
	for _, values := range r.URL.Query() {
		for _, value := range values {
			s.AddCredential(value)
		}
	}
}
