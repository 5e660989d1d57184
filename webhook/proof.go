package webhook

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// proof is what a request showed of the secrets that its parameters should hold.
type proof struct {
	seen uint64 // a bit for each secret: a value that is not blank came
	held uint64 // a bit for each secret: it is one of the words
	// The parameters to be cut out of the query: how many, and where the first one is.
	cuts       int
	start, end int
}

// isSecret tells whether a parameter is there for a secret, and if so looks whether it is right. It is then no part of the
// event. The value is as it came, and the parameter stands in the query from start to end.
func (q *reading) isSecret(name, value string, start, end int) bool {
	secrets := q.settings.secrets
	for i := range secrets {
		if secrets[i].name != name {
			continue
		}
		q.count++
		if q.proof.cuts == 0 {
			q.proof.start, q.proof.end = start, end
		}
		q.proof.cuts++
		other := value
		if !isPlain(value) {
			// A sender may have forgotten to escape, so a + may be meant as it stands.
			value, other = unescaped(value, ' '), unescaped(value, '+')
		}
		q.try(i, value, other)
		return true
	}
	return false
}

func unescaped(value string, plus byte) string {
	b := make([]byte, len(value))
	n, _, _ := unescape(b, value, plus)
	return string(b[:n])
}

// try looks whether one of two readings of a value is the secret. The first value that is not blank counts.
func (q *reading) try(i int, value, other string) {
	bit := uint64(1) << i
	if q.proof.seen&bit != 0 || isBlank(value) {
		return
	}
	q.proof.seen |= bit
	held := q.settings.secrets[i].is(value)
	if other != value {
		held |= q.settings.secrets[i].is(other)
	}
	if held == 1 {
		q.proof.held |= bit
	}
}

// is gives 1 if a word is one of the secrets. All of them are compared, whichever is right, and both sides are filled up
// to one length, so that neither the content nor the length of a secret shows in the time it takes.
func (s *secret) is(word string) int {
	var short [secretUnit]byte
	filled := short[:]
	if s.size > len(short) {
		filled = make([]byte, s.size)
	}
	copy(filled, word)
	found := 0
	for i := range s.words {
		found |= subtle.ConstantTimeCompare(filled, s.words[i].filled) & subtle.ConstantTimeLessOrEq(len(word), s.words[i].length) & subtle.ConstantTimeLessOrEq(s.words[i].length, len(word))
	}
	return found
}

// withoutSecrets cuts the secrets out of a query, each with one &; the rest stays as it is, byte for byte.
func (q *reading) withoutSecrets(query string) string {
	switch start, end := q.proof.start, q.proof.end; {
	case q.proof.cuts == 0:
		return query
	case q.proof.cuts > 1:
		return q.withoutAny(query)
	case start == 0 && end == len(query):
		return ""
	case start == 0:
		return query[end+1:]
	case end == len(query):
		return query[:start-1]
	default:
		return query[:start] + query[end+1:]
	}
}

func (q *reading) withoutAny(query string) string {
	kept := make([]string, 0, strings.Count(query, "&")+1)
	for segment := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(segment, "=")
		if name = decode(name); segment == "" || !q.settings.hasSecret(name) {
			kept = append(kept, segment)
		}
	}
	return strings.Join(kept, "&")
}

func (s *settings) hasSecret(parameter string) bool {
	for i := range s.secrets {
		if s.secrets[i].name == parameter {
			return true
		}
	}
	return false
}

// prove looks whether all proofs of origin hold. All of them are looked at, and the answer tells not which was wrong.
func (q *reading) prove(r *http.Request, body string) error {
	s := q.settings
	ok := q.proof.held == 1<<len(s.secrets)-1
	for i := range s.pathSecrets {
		ok = s.pathSecrets[i].is(r.PathValue(s.pathSecrets[i].name)) == 1 && ok
	}
	var cause error
	post := r.Method == http.MethodPost
	for _, verify := range s.verifiers {
		if post {
			r.Body = bodyOf(body)
		}
		if err := verify(r); err != nil {
			cause, ok = err, false
		}
	}
	if post {
		r.Body = bodyOf(body)
	}
	if ok {
		return nil
	}
	status := http.StatusForbidden
	if len(s.pathSecrets) > 0 {
		status = http.StatusNotFound
	}
	return &RejectError{Event: q.event, Status: status, Reason: ErrProof, Cause: cause}
}
