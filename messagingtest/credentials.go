package messagingtest

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
)

// credentials holds digests: they have one length, so that comparing them takes the same time for any input.
type credentials struct {
	token, key, secret [sha256.Size]byte
}

func newCredentials(token, key, secret string) credentials {
	return credentials{digest(token), digest(key), digest(secret)}
}

func digest(s string) [sha256.Size]byte { return sha256.Sum256([]byte(s)) }

// keyPair is what a request presents beside its header.
type keyPair struct {
	key, secret string
	present     bool   // one of them, or both
	readable    bool   // both, in the form that they have to have
	place       string // where they belong
}

func pairOfBody(body object) keyPair {
	_, hasKey := body[fieldAPIKey]
	_, hasSecret := body[fieldAPISecret]
	key, keyIsString := body.text(fieldAPIKey)
	secret, secretIsString := body.text(fieldAPISecret)
	return keyPair{key, secret, hasKey || hasSecret, keyIsString && secretIsString, "a JSON body"}
}

func pairOfQuery(query url.Values) keyPair {
	keys, secrets := query[fieldAPIKey], query[fieldAPISecret]
	return keyPair{
		query.Get(fieldAPIKey), query.Get(fieldAPISecret),
		len(keys)+len(secrets) > 0, len(keys) == 1 && len(secrets) == 1, "the query",
	}
}

// problem says what is wrong with the credentials of a request, or nothing. Whatever is presented must be right: a
// client that sends a wrong key pair beside a right token has a mistake that should show.
func (c credentials) problem(header http.Header, pair keyPair) string {
	tokens := header["Authorization"]
	switch {
	case len(tokens) == 0 && !pair.present:
		return "no credentials: neither an Authorization header, nor apiKey and apiSecret in " + pair.place
	case len(tokens) > 1:
		return "more than one Authorization header"
	case len(tokens) == 1 && !c.matchToken(tokens[0]):
		return "the Authorization header does not hold Bearer and the token of this server"
	case pair.present && !c.matchPair(pair):
		return "apiKey and apiSecret are not those of this server"
	}
	return ""
}

func (c credentials) matchToken(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	return strings.EqualFold(scheme, "Bearer") && equal(digest(token), c.token) == 1
}

func (c credentials) matchPair(pair keyPair) bool {
	matches := equal(digest(pair.key), c.key) & equal(digest(pair.secret), c.secret)
	return pair.readable && matches == 1
}

func equal(a, b [sha256.Size]byte) int { return subtle.ConstantTimeCompare(a[:], b[:]) }
