package messagingtest

import (
	"net/http"
	"slices"
	"strings"
)

// credentials are what a request presents.
type credentials struct {
	tokens, keys, secrets []string
}

// credentialsOf returns the credentials in the header and the query of a request.
func (s *Server) credentialsOf(r *http.Request) credentials {
	header := s.names.Auth.Token.Header
	pair := s.names.Auth.KeyPair
	c := credentials{tokens: r.Header.Values(header)}
	switch pair.In {
	case "query":
		query := r.URL.Query()
		c.keys = query[pair.Key]
		c.secrets = query[pair.Secret]
	case "header":
		c.keys = r.Header.Values(pair.Key)
		c.secrets = r.Header.Values(pair.Secret)
		isSameHeader := strings.EqualFold(pair.Key, header)
		if isSameHeader && slices.Equal(c.keys, []string{s.key}) {
			c.tokens = nil // the header holds the key, not a token
		}
	case "basic":
		key, secret, ok := r.BasicAuth() // of the first Authorization header
		if !ok {
			break
		}
		c.keys = []string{key}
		c.secrets = []string{secret}
		if strings.EqualFold(header, "Authorization") {
			c.tokens = c.tokens[1:] // the first is not a token but the pair
		}
	}
	return c
}

// authorize returns what is wrong with credentials, or nil. All of them have to be right: a client that sends a wrong key with
// the right token has a mistake that should show.
func (s *Server) authorize(c credentials) *problem {
	token := s.names.Auth.Token
	pair := s.names.Auth.KeyPair
	hasPair := len(c.keys)+len(c.secrets) > 0
	switch {
	case len(c.tokens) == 0 && !hasPair:
		return &problem{"unauthorized", "no credentials: want the header " + token.Header + " or " + placeOfPair(pair.In)}
	case len(c.tokens) > 0 && !s.isToken(c.tokens):
		return &problem{"unauthorized", token.Header + " is not, once, " + strings.TrimSpace(token.Scheme+" and the token of this server")}
	case hasPair && !s.isPair(c.keys, c.secrets):
		return &problem{"unauthorized", "the key pair is not that of this server"}
	}
	return nil
}

// placeOfPair returns where the contract has a key pair.
func placeOfPair(in string) string {
	if in == "basic" {
		return "basic authentication"
	}
	return "a key pair in the " + in
}

// isToken reports whether the values of a header are the token, after a scheme in any case.
func (s *Server) isToken(values []string) bool {
	if len(values) != 1 {
		return false
	}
	scheme := s.names.Auth.Token.Scheme
	if scheme == "" {
		return values[0] == s.token
	}
	first, rest, _ := strings.Cut(values[0], " ")
	return strings.EqualFold(first, scheme) && rest == s.token
}

// isPair reports whether the values are the key and the secret, each once. If the contract has only a key, a secret must be absent or empty.
func (s *Server) isPair(keys, secrets []string) bool {
	if !slices.Equal(keys, []string{s.key}) {
		return false
	}
	if s.names.Auth.KeyPair.Secret == "" {
		return strings.Join(secrets, "") == "" // basic authentication always sends one
	}
	return slices.Equal(secrets, []string{s.secret})
}
