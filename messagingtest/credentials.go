package messagingtest

import (
	"net/http"
	"slices"
	"strings"
)

// credentials are what the server accepts: the token, or the key with its secret.
type credentials struct{ token, key, secret string }

// authorize returns what is wrong with the credentials of a request, or nil. Keys and secrets are those of its body or query.
// Everything that it presents has to be right: a client that sends a wrong key beside the right token has a mistake that
// should show.
func (s *Server) authorize(header http.Header, keys, secrets []string) *problem {
	auth := s.names.auth
	tokens := header.Values(auth["header"])
	pair := len(keys)+len(secrets) > 0
	switch {
	case len(tokens) == 0 && !pair:
		return &problem{codeUnauthorized, "no credentials: neither the header " + auth["header"] + ", nor " + auth["key"] + " and " +
			auth["secret"] + " in the body of a POST or the query of a GET"}
	case len(tokens) > 1:
		return &problem{codeUnauthorized, "more than one header " + auth["header"]}
	case len(tokens) == 1 && !s.isToken(tokens[0]):
		return &problem{codeUnauthorized, "the header " + auth["header"] + " does not hold " + auth["scheme"] + " and the token of this server"}
	case pair && (!slices.Equal(keys, []string{s.credentials.key}) || !slices.Equal(secrets, []string{s.credentials.secret})):
		return &problem{codeUnauthorized, auth["key"] + " and " + auth["secret"] + " are not those of this server"}
	}
	return nil
}

func (s *Server) isToken(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	return strings.EqualFold(scheme, s.names.auth["scheme"]) && token == s.credentials.token
}

// take removes a member and returns it as a list: empty if it is absent, and "" if it is not a string.
func (o object) take(name string) []string {
	if o[name] == nil {
		return nil
	}
	text := o.text(name)
	delete(o, name)
	return []string{text}
}
