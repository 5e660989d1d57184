package webhook

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// minSecret is the least number of characters in a secret.
const minSecret = 16

// secret is a parameter or path value that must hold one of several words. Functions hold the words, so that no verb of
// package fmt prints them.
type secret struct {
	name    string
	option  string // the option or environment variable that set it, for errors
	matches func(value string) bool
	first   func() string
}

func newSecret(option, name string, words []string) (s secret, problem error) {
	words = slices.Clone(words) // they are the caller's
	var hashes [][sha256.Size]byte
	for _, word := range words {
		hashes = append(hashes, sha256.Sum256([]byte(word)))
	}
	s = secret{
		name:    name,
		option:  option,
		matches: func(value string) bool { return matchesAny(hashes, value) },
		first:   func() string { return words[0] },
	}
	isShort := func(word string) bool {
		return utf8.RuneCountInString(strings.TrimSpace(word)) < minSecret
	}
	switch {
	case isBlank(name):
		return s, errors.New(option + ": the name is empty")
	case len(words) == 0:
		return s, errors.New(option + ": no secret is given")
	case slices.Contains(words, name):
		return s, errors.New(option + ": a secret is the name itself; use crypto/rand.Text")
	case slices.ContainsFunc(words, isShort):
		return s, errors.New(option + ": a secret has fewer than 16 characters; use crypto/rand.Text")
	default:
		return s, nil
	}
}

// matchesAny reports whether value is one of the words with these hashes. It compares with all of them, and the hashes have one length, so
// timing reveals neither the content nor the length of a secret.
func matchesAny(hashes [][sha256.Size]byte, value string) bool {
	hash := sha256.Sum256([]byte(value))
	found := 0
	for i := range hashes {
		found |= subtle.ConstantTimeCompare(hash[:], hashes[i][:])
	}
	return found == 1
}

// isSecret reports whether a parameter holds a secret.
func (rcv *Receiver) isSecret(parameter string) bool {
	return slices.ContainsFunc(rcv.secrets, func(s secret) bool { return s.name == parameter })
}

// checkPath checks the secrets in the path.
func (c *callback) checkPath(r *http.Request) error {
	isProven := true
	for _, s := range c.receiver.pathSecrets {
		if !s.matches(r.PathValue(s.name)) {
			isProven = false
		}
	}
	return c.proofError(isProven, nil)
}

// verifyQuery checks all secrets in the query, and notes those that it does not have.
func (c *callback) verifyQuery(req *request) {
	for i := range c.receiver.secrets {
		s := &c.receiver.secrets[i]
		escaped := s.valueIn(req.query)
		switch {
		case escaped == "":
			req.missing = append(req.missing, s)
		case !s.matchesEscaped(escaped):
			req.hasWrongSecret = true
		}
	}
}

// verify checks the proofs of origin, except for the path and the secrets that the query does not have. It calls all verifiers, and the error
// does not show which proof was wrong. A verifier gets the body byte for byte, and nothing of the body is parsed yet.
func (c *callback) verify(r *http.Request, req *request) error {
	isProven := !req.hasWrongSecret
	var cause error
	for _, verify := range c.receiver.verifiers {
		restoreBody(r, req.body)
		if err := verify(r); err != nil {
			isProven = false
			cause = err
		}
	}
	restoreBody(r, req.body) // also for a caller of ParseSMS, who may continue with ParseSMSMessages
	return c.proofError(isProven, cause)
}

// verifyBody checks the secrets that the query does not have.
func (c *callback) verifyBody(req *request) error {
	isProven := true
	for _, s := range req.missing {
		if !s.isInBody(req) {
			isProven = false
		}
	}
	return c.proofError(isProven, nil)
}

func restoreBody(r *http.Request, body []byte) {
	if r.Method == http.MethodPost || len(body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
}

func (c *callback) proofError(isProven bool, cause error) error {
	switch {
	case isProven:
		return nil
	case len(c.receiver.pathSecrets) > 0:
		return c.refuse(ErrProof).withCause(cause).withStatus(http.StatusNotFound)
	default:
		return c.refuse(ErrProof).withCause(cause)
	}
}

// matchesEscaped reports whether a value of a query or form is the secret.
func (s *secret) matchesEscaped(escaped string) bool {
	withoutSpace := strings.Contains(escaped, "+") && s.matches(unescape(escaped, '+')) // the sender forgot to escape a +
	return withoutSpace || s.matches(unescape(escaped, ' '))
}

// isInBody reports whether a body has the secret: of the values of its parameter, the first that is not blank counts.
func (s *secret) isInBody(req *request) bool {
	if escaped := s.valueIn(req.form); escaped != "" {
		return s.matchesEscaped(escaped)
	}
	for _, m := range req.members {
		if string(m.name) != s.name {
			continue
		}
		if value, _ := scalar(m.value); !isBlank(value) {
			return s.matches(value)
		}
	}
	return false
}

// valueIn returns the first value of the parameter in a form that is not blank, still escaped, or "".
func (s *secret) valueIn(form string) string {
	for form != "" {
		var pair string
		pair, form, _ = strings.Cut(form, "&")
		if !mayHaveName(pair, s.name) {
			continue
		}
		name, escaped, _ := strings.Cut(pair, "=")
		if decode(name) == s.name && !isBlank(unescape(escaped, ' ')) {
			return escaped
		}
	}
	return ""
}

// mayHaveName reports whether a parameter may have a name: it begins like the name, or with a byte that is decoded.
func mayHaveName(pair, name string) bool {
	if pair == "" {
		return false
	}
	first := pair[0]
	return first == name[0] || !isPlain(pair[:1])
}

// withoutSecretParams returns a query without the parameters that hold secrets, otherwise byte for byte.
func (c *callback) withoutSecretParams(query string) string {
	if len(c.receiver.secrets) == 0 {
		return query
	}
	var public strings.Builder
	public.Grow(len(query))
	separator := ""
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if c.receiver.isSecret(decode(name)) {
			continue
		}
		public.WriteString(separator)
		public.WriteString(pair)
		separator = "&"
	}
	return public.String()
}

// withoutSecrets returns a JSON object without the members that hold secrets. The values of the others are unchanged.
func (c *callback) withoutSecrets(raw []byte, members object) ([]byte, object) {
	holdsSecret := func(m member) bool { return c.receiver.isSecret(string(m.name)) }
	if len(c.receiver.secrets) == 0 || !slices.ContainsFunc(members, holdsSecret) {
		return raw, members
	}
	kept := []byte("{")
	for _, m := range members {
		if holdsSecret(m) {
			continue
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		name, _ := json.Marshal(string(m.name))
		kept = append(kept, name...)
		kept = append(kept, ':')
		kept = append(kept, m.value...)
	}
	kept = append(kept, '}')
	return kept, objectOf(kept)
}
