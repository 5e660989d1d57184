package webhook

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// secret is a parameter or path value that must hold one of several words. Functions hold the words, so that no verb of
// package fmt prints them.
type secret struct {
	name    string
	matches func(value string) bool
	first   func() string
}

func newSecret(name string, words []string) (s secret, problem string) {
	words = slices.Clone(words) // they are the caller's
	var hashes [][sha256.Size]byte
	for _, word := range words {
		hashes = append(hashes, sha256.Sum256([]byte(word)))
	}
	switch {
	case isBlank(name):
		problem = "the name is empty"
	case len(words) == 0:
		problem = "no secret is given"
	case slices.ContainsFunc(words, isBlank):
		problem = "a secret is empty"
	}
	return secret{
		name:    name,
		matches: func(value string) bool { return matchesAny(hashes, value) },
		first:   func() string { return words[0] },
	}, problem
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

type proof struct {
	seen  bool // a value that is not blank arrived
	right bool // the first such value was a secret
	value string
}

// secretOf returns the index of the secret that a parameter is there for, or -1.
func (rcv *Receiver) secretOf(parameter string) int {
	return slices.IndexFunc(rcv.secrets, func(s secret) bool { return s.name == parameter })
}

// prove checks values of the secret with index i: of a parameter, as its escapes can be read.
func (in *intake) prove(i int, values ...string) {
	in.count++
	p := &in.proofs[i]
	if p.seen || isBlank(values[0]) {
		return
	}
	for _, p.value = range values {
		if p.seen, p.right = true, in.secrets[i].matches(p.value); p.right {
			return
		}
	}
}

func (c *callback) checkPath(r *http.Request) error {
	right := true
	for i := range c.pathSecrets {
		right = c.pathSecrets[i].matches(r.PathValue(c.pathSecrets[i].name)) && right
	}
	return c.proofError(right, nil)
}

// checkOrigin checks the other proofs of origin, and returns what arrived without copies of secrets. It looks at all proofs, and the
// error does not show which was wrong.
func (c *callback) checkOrigin(r *http.Request, claimed *arrival) (arrival, error) {
	right := true
	for _, p := range claimed.proofs {
		right = right && p.right
	}
	var cause error
	for _, verify := range c.verifiers {
		restoreBody(r, claimed.body)
		if err := verify(r); err != nil {
			cause, right = err, false
		}
	}
	restoreBody(r, claimed.body)
	if err := c.proofError(right, cause); err != nil {
		return arrival{}, err
	}
	claimed.shown = c.shown(r, claimed.proofs)
	clean := c.withoutCopies(claimed)
	if !slices.Equal(clean.params[:clean.inQuery], claimed.params[:clean.inQuery]) { // so the query is written again
		query := make([]string, clean.inQuery)
		for i, param := range clean.params[:clean.inQuery] {
			query[i] = url.QueryEscape(param.Name) + "=" + url.QueryEscape(param.Value)
		}
		clean.query = strings.Join(query, "&")
	}
	isSplit := func(secret string) bool { // between parameters, or a name and its value
		return isLong(secret) && strings.ContainsAny(secret, "&=") && clean.shown.cut(clean.query) != clean.query
	}
	if slices.ContainsFunc(clean.shown, isSplit) {
		clean.query = ""
	}
	return clean, nil
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

// shown are the secrets that a request has shown. Copies of them in the rest of the request are removed. Other secrets are not looked
// for, so the time that it takes says nothing about them.
type shown []string

func (c *callback) shown(r *http.Request, proofs []proof) (s shown) {
	for _, p := range proofs {
		s = append(s, p.value)
		if strings.Contains(p.value, "+") { // one that was not escaped arrives as a space
			s = append(s, strings.ReplaceAll(p.value, "+", " "))
		}
	}
	for _, secret := range c.pathSecrets {
		s = append(s, r.PathValue(secret.name))
	}
	return s
}

// isLong reports whether a secret is so long that it is no part of another word by chance.
func isLong(secret string) bool { return utf8.RuneCountInString(secret) >= 16 }

// withoutCopies removes copies of secrets from parameters and from JSON, not from the query, which checkOrigin has cleaned.
func (c *callback) withoutCopies(a *arrival) arrival {
	without := *a
	isCopied := false
	for i, param := range a.params {
		clean := Param{Name: a.shown.cut(param.Name), Value: a.shown.remove(param.Value)}
		if clean == param {
			continue
		}
		if !isCopied {
			without.params, isCopied = slices.Clone(a.params), true
		}
		without.params[i] = clean
	}
	without.object = a.shown.remove(without.object)
	return without
}

// remove returns a value without copies of secrets. In JSON it removes them from strings, however they are escaped, and leaves valid JSON.
func (s shown) remove(text string) string {
	mayHold := func(secret string) bool { return strings.Contains(text, secret) || strings.ContainsAny(text, `\%`) }
	switch {
	case !slices.ContainsFunc(s, mayHold):
		return text
	case !isNested([]byte(text), '{') && !isNested([]byte(text), '[') || jsonscan.Check([]byte(text)) != nil:
		for _, secret := range s { // the quotes may be those of JSON that cannot be read
			text = strings.ReplaceAll(text, `"`+secret+`"`, `""`)
		}
		return s.cut(text)
	}
	return jsonScalar.ReplaceAllStringFunc(text, func(whole string) string {
		word, _ := jsonscan.Word([]byte(whole))
		switch clean := s.cut(word); {
		case clean == word:
			return whole
		case whole[0] != '"':
			return "0"
		default:
			quoted, _ := json.Marshal(clean)
			return string(quoted)
		}
	})
}

var jsonScalar = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*`)

// cut returns a word without copies of secrets: "" for a copy, and for one that holds the copy of a long secret in an escaped form.
func (s shown) cut(word string) string {
	for _, secret := range s {
		switch {
		case word == secret:
			return ""
		case isLong(secret):
			word = strings.ReplaceAll(word, secret, "")
			isEscaped := !isPlain(word) && (strings.Contains(unescape(word, '+'), secret) || strings.Contains(unescape(word, ' '), secret))
			if isEscaped || strings.Contains(word, secret) { // what stood around a copy may be another one
				return ""
			}
		}
	}
	return word
}
