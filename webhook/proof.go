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

// minSecret is how many characters a secret has at least.
const minSecret = 16

// secret is a parameter or path value that must hold one of several words. Functions hold the words, so that no verb of
// package fmt prints them.
type secret struct {
	name    string
	matches func(value string) bool
	first   func() string
}

func newSecret(name string, words []string) (s secret, problem error) {
	words = slices.Clone(words) // they are the caller's
	var hashes [][sha256.Size]byte
	for _, word := range words {
		hashes = append(hashes, sha256.Sum256([]byte(word)))
	}
	s = secret{
		name:    name,
		matches: func(value string) bool { return matchesAny(hashes, value) },
		first:   func() string { return words[0] },
	}
	isShort := func(word string) bool { return utf8.RuneCountInString(strings.TrimSpace(word)) < minSecret }
	switch {
	case isBlank(name):
		return s, errors.New("the name is empty")
	case len(words) == 0:
		return s, errors.New("no secret is given")
	case slices.Contains(words, name):
		return s, errors.New("a secret is the name itself; crypto/rand.Text makes one that nobody guesses")
	case slices.ContainsFunc(words, isShort):
		return s, errors.New("a secret has fewer than 16 characters; crypto/rand.Text makes one that nobody guesses")
	default:
		return s, nil
	}
}

// matchesAny reports whether value is one of the words with these hashes. It compares all of them, whichever is right, and
// since the hashes have one length, neither the content nor the length of a word shows in the time that it takes.
func matchesAny(hashes [][sha256.Size]byte, value string) bool {
	hash := sha256.Sum256([]byte(value))
	found := 0
	for i := range hashes {
		found |= subtle.ConstantTimeCompare(hash[:], hashes[i][:])
	}
	return found == 1
}

// isSecret reports whether a parameter is there for a secret.
func (rcv *Receiver) isSecret(parameter string) bool {
	return slices.ContainsFunc(rcv.secrets, func(s secret) bool { return s.name == parameter })
}

// hasProof reports whether an option proves the origin of a request.
func (rcv *Receiver) hasProof() bool {
	return len(rcv.secrets)+len(rcv.pathSecrets)+len(rcv.verifiers) > 0
}

func (c *callback) checkPath(r *http.Request) error {
	right := true
	for i := range c.pathSecrets {
		right = c.pathSecrets[i].matches(r.PathValue(c.pathSecrets[i].name)) && right
	}
	return c.proofError(right, nil)
}

// verify checks the other proofs of origin. It checks all of them, and the error does not show which was wrong.
func (c *callback) verify(r *http.Request, in *request) error {
	right := true
	for i := range c.secrets {
		right = c.secrets[i].isShown(in) && right
	}
	var cause error
	for _, verify := range c.verifiers {
		restoreBody(r, in.body)
		if err := verify(r); err != nil {
			cause, right = err, false
		}
	}
	restoreBody(r, in.body) // also for a caller of ParseSMS, who may go on with ParseSMSMessages
	return c.proofError(right, cause)
}

func restoreBody(r *http.Request, body []byte) {
	if r.Method == http.MethodPost {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
}

func (c *callback) proofError(right bool, cause error) error {
	switch {
	case right:
		return nil
	case len(c.pathSecrets) > 0:
		return c.name.refuse(ErrProof).with(cause).as(http.StatusNotFound)
	default:
		return c.name.refuse(ErrProof).with(cause)
	}
}

// isShown reports whether a request has the secret: of the values of its parameter, the first that is not blank counts.
func (s *secret) isShown(in *request) bool {
	for _, form := range [...]string{in.query, in.form} {
		for form != "" {
			var pair string
			pair, form, _ = strings.Cut(form, "&")
			if !mayBegin(pair, s.name[0]) {
				continue
			}
			name, escaped, _ := strings.Cut(pair, "=")
			if decode(name) != s.name {
				continue
			}
			value := unescape(escaped, ' ')
			if isBlank(value) {
				continue
			}
			// A sender may have forgotten to escape a +.
			return s.matches(value) || strings.Contains(escaped, "+") && s.matches(unescape(escaped, '+'))
		}
	}
	for _, m := range in.members {
		if value, _ := scalar(m.value); string(m.name) == s.name && !isBlank(value) {
			return s.matches(value)
		}
	}
	return false
}

// mayBegin reports whether a parameter whose name begins with a byte may look like this. Most others are passed over at once.
func mayBegin(pair string, first byte) bool {
	return pair != "" && (pair[0] == first || pair[0] == '%' || pair[0] == '+' || pair[0] >= utf8.RuneSelf)
}

// withoutSecrets returns a JSON object without the members that hold secrets, otherwise byte for byte.
func (c *callback) withoutSecrets(raw []byte, members object) ([]byte, object) {
	holdsSecret := func(m member) bool { return c.isSecret(string(m.name)) }
	if len(c.secrets) == 0 || !slices.ContainsFunc(members, holdsSecret) {
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
