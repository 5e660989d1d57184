package learn

import (
	"maps"
	"slices"
	"strings"
)

// headers learns the headers of a request: credentials and constant headers.
type headers struct {
	request     *request
	overlay     *overlay
	credentials credentials
}

// learn learns each header. The credentials that the example names come first, so that no other header takes their place.
func (h headers) learn() error {
	h.learnAuthorization()
	var others []leaf
	for _, header := range h.ofAccount() {
		isKnown, err := h.learnKnownCredential(header)
		if err != nil {
			return err
		}
		if !isKnown {
			others = append(others, header)
		}
	}
	for _, header := range others {
		if err := h.learnOther(header); err != nil {
			return err
		}
	}
	return nil
}

// learnAuthorization learns the header Authorization: a user with a password, or a token.
func (h headers) learnAuthorization() {
	_, _, isBasic := h.request.basic()
	authorization := h.request.header.Get("Authorization")
	switch {
	case isBasic:
		h.overlay.Auth.KeyPair.In = "basic"
	case authorization != "":
		h.learnScheme(authorization)
	}
}

// learnScheme learns the scheme before the token.
func (h headers) learnScheme(authorization string) {
	scheme, _, hasScheme := strings.Cut(authorization, " ")
	if !hasScheme {
		scheme = ""
	}
	if scheme != h.overlay.defaults.Auth.Token.Scheme {
		h.overlay.Auth.Token.Scheme = &scheme
	}
}

// ofAccount returns the headers of the request, by name, without Authorization and without those that are unrelated to the account.
func (h headers) ofAccount() []leaf {
	var found []leaf
	for _, name := range slices.Sorted(maps.Keys(h.request.header)) {
		if name != "Authorization" && !isRoutine(name) {
			found = append(found, leaf{path: name, name: name, word: h.request.header[name][0]})
		}
	}
	return found
}

// learnKnownCredential learns a header with a credential that the example names, and reports whether it is one.
func (h headers) learnKnownCredential(header leaf) (bool, error) {
	example := h.credentials.example
	if example.hasValue(header.word, "token", "key", "secret") {
		return true, h.credentials.learn(header, "header")
	}
	scheme, rest, _ := strings.Cut(header.word, " ")
	isToken := rest != "" && rest == example.values["token"]
	if !isToken || scheme == "" {
		return false, nil
	}
	h.overlay.Auth.Token = token{Header: header.name, Scheme: &scheme}
	return true, nil
}

// learnOther learns a header whose value the example does not name.
func (h headers) learnOther(header leaf) error {
	example := h.credentials.example
	isForRetries := retryName.match(header.name) // the contract rejects it, and says why
	switch {
	case isCredential(header.name, header.word) && !isForRetries:
		return h.learnUnknownCredential(header)
	case example.fieldIn(header.word) != "":
		return example.errorf("the header %s has a value of the message, which a contract cannot write", header.name)
	}
	h.overlay.Headers[header.name] = header.word
	h.overlay.note("every request is sent with these: check that each value is no secret", "headers")
	return nil
}

// learnUnknownCredential learns a header that looks like a credential as the key or its secret. If the request has other credentials in that
// place, it leaves the header out.
func (h headers) learnUnknownCredential(header leaf) error {
	hasToken := h.request.user != "" || h.request.header.Get("Authorization") != "" || h.overlay.Auth.Token.Header != ""
	isTaken := h.credentials.learnedInPlaceOf(header) != ""
	if hasToken || isTaken {
		h.overlay.leaveOut("headers", header.name)
		return nil
	}
	if err := h.credentials.learn(header, "header"); err != nil {
		return err
	}
	if !credentialName.match(header.name) {
		h.overlay.note("the value in the example looks like a credential: if it is not, write the header to headers", sectionAuth, "keyPair", "key")
	}
	return nil
}
