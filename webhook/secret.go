package webhook

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
	return c.withoutCopies(claimed), nil
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

// withoutCopies empties what holds a copy of a secret that the request has shown: parameters, and strings in JSON. Only the value
// that was shown is looked for, so the time that it takes says nothing about other secrets.
func (c *callback) withoutCopies(a *arrival) arrival {
	without := *a
	isCopied := false
	for _, p := range a.proofs {
		copies := []string{p.value}
		if strings.Contains(p.value, "+") { // one that was not escaped arrives as a space
			copies = append(copies, strings.ReplaceAll(p.value, "+", " "))
		}
		for i, param := range without.params {
			value := emptied(param.Value, copies)
			if value == param.Value {
				continue
			}
			if !isCopied {
				without.params, isCopied = slices.Clone(a.params), true
			}
			without.params[i].Value = value
		}
		without.object = emptied(without.object, copies)
		if isCopied {
			without.query = c.emptiedQuery(without.query, copies)
		}
	}
	return without
}

// emptiedQuery returns a query without the values of parameters that hold a copy of a secret.
func (c *callback) emptiedQuery(query string, copies []string) string {
	var b strings.Builder
	json := true
	for at := 0; at < len(query); {
		p := c.parameter(query[at:], json)
		json = json && !p.isOpen
		whole := query[at:min(at+p.size+1, len(query))]
		if emptied(p.value, copies) != p.value {
			name, _, _ := strings.Cut(whole, "=")
			whole = name + "=" + whole[p.size:]
		}
		b.WriteString(whole)
		at += p.size + 1
	}
	return b.String()
}

// emptied returns a text without copies of a secret: "" for a copy, and JSON without the strings that are one, however they are
// escaped.
func emptied(text string, copies []string) string {
	if slices.Contains(copies, text) {
		return ""
	}
	mayHold := func(secret string) bool { return strings.Contains(text, secret) || strings.IndexByte(text, '\\') >= 0 }
	if strings.IndexByte(text, '"') < 0 || !slices.ContainsFunc(copies, mayHold) {
		return text
	}
	for _, secret := range copies { // also where the quotes are not those of JSON
		text = strings.ReplaceAll(text, `"`+secret+`"`, `""`)
	}
	return quoted.ReplaceAllStringFunc(text, func(whole string) string {
		if word, ok := jsonscan.Word([]byte(whole)); ok && slices.Contains(copies, word) {
			return `""`
		}
		return whole
	})
}

var quoted = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"`)

// ScrubURL returns the parts of a callback's URL that may appear in an access log: scheme, host and path, and the length of the
// query, which holds numbers, texts and secrets.
//
//	/hooks/sms?[84B]
//
// A user and a fragment are left out. A part of the path that looks like a secret or a number is replaced by its length: more
// than 15 characters that are not words in lower case, or five digits. That is a guess, and misses a short path secret. For a
// nil URL the result is "".
func ScrubURL(u *url.URL) string {
	if u == nil {
		return ""
	}
	segments := strings.Split(u.EscapedPath(), "/")
	for i, segment := range segments {
		if looksSecret(segment) {
			segments[i] = length(segment)
		}
	}
	shown := (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() + strings.Join(segments, "/")
	if u.Opaque != "" {
		shown += length(u.Opaque)
	}
	if u.RawQuery != "" {
		shown += "?" + length(u.RawQuery)
	}
	return shown
}

func length(text string) string { return "[" + strconv.Itoa(len(text)) + "B]" }

// looksSecret reports whether a part of a path may be a secret or a number, and not words that a person chose.
func looksSecret(segment string) bool {
	return len(digits(segment)) >= 5 || !shortSegment.MatchString(segment) && !wordsInSegment.MatchString(segment)
}

var (
	shortSegment   = regexp.MustCompile(`^[A-Za-z0-9_.-]{0,15}$`)
	wordsInSegment = regexp.MustCompile(`^[a-z]{0,15}([_.-][a-z]{0,15})*$`)
)
