package messagingtest

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
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

// problem says what is wrong with the credentials of a request, or nothing. Whatever is presented must be right: a
// client that sends a wrong key pair beside a right token has a mistake that should show.
func (c credentials) problem(header http.Header, body object) string {
	tokens := header["Authorization"]
	_, hasKey := body[fieldAPIKey]
	_, hasSecret := body[fieldAPISecret]
	switch {
	case len(tokens) == 0 && !hasKey && !hasSecret:
		return "no credentials: neither an Authorization header, nor apiKey and apiSecret in a JSON body"
	case len(tokens) > 1:
		return "more than one Authorization header"
	case len(tokens) == 1 && !c.matchToken(tokens[0]):
		return "the Authorization header does not hold Bearer and the token of this server"
	case (hasKey || hasSecret) && !c.matchPair(body):
		return "apiKey and apiSecret are not those of this server"
	}
	return ""
}

func (c credentials) matchToken(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	return strings.EqualFold(scheme, "Bearer") && equal(digest(token), c.token) == 1
}

func (c credentials) matchPair(body object) bool {
	key, keyIsString := body.text(fieldAPIKey)
	secret, secretIsString := body.text(fieldAPISecret)
	matches := equal(digest(key), c.key) & equal(digest(secret), c.secret)
	return keyIsString && secretIsString && matches == 1
}

func equal(a, b [sha256.Size]byte) int { return subtle.ConstantTimeCompare(a[:], b[:]) }
