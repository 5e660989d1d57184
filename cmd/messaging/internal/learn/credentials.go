package learn

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// isCredential reports whether a header, a parameter or a member looks like a credential, by the words of its name or because its value looks
// random. Such a value is never written.
func isCredential(name, value string) bool {
	return credentialName.match(name) || isRandom(value)
}

// isRandom reports whether a value looks like a key: a UUID, or a long word of letters and digits.
func isRandom(value string) bool {
	if uuidValue.MatchString(value) {
		return true
	}
	if compactTime.MatchString(value) {
		return false
	}
	const digits = "0123456789"
	hasBoth := func(word string) bool {
		hasDigit := strings.ContainsAny(word, digits)
		hasLetter := strings.Trim(word, digits) != ""
		return hasDigit && hasLetter
	}
	return slices.ContainsFunc(longWord.FindAllString(value, -1), hasBoth)
}

// learnHeaders learns the headers with credentials and the constant headers. The credentials that the example names come first, so that no
// other header takes their place.
func (l *learner) learnHeaders() error {
	l.learnAuthorization()
	var others []leaf
	for _, header := range l.accountHeaders() {
		isKnown, err := l.learnKnownCredential(header)
		if err != nil {
			return err
		}
		if !isKnown {
			others = append(others, header)
		}
	}
	for _, header := range others {
		if err := l.learnHeader(header); err != nil {
			return err
		}
	}
	return nil
}

// learnAuthorization learns the header Authorization: a user with a password, or a token.
func (l *learner) learnAuthorization() {
	_, _, isBasic := l.request.basic()
	authorization := l.request.header.Get("Authorization")
	switch {
	case isBasic:
		l.overlay.Auth.KeyPair.In = "basic"
	case authorization != "":
		l.learnScheme(authorization)
	}
}

// accountHeaders returns the headers of the request, by name, without Authorization and without those that are unrelated to the account.
func (l *learner) accountHeaders() []leaf {
	var headers []leaf
	for _, name := range slices.Sorted(maps.Keys(l.request.header)) {
		if name != "Authorization" && !isRoutine(name) {
			headers = append(headers, leaf{path: name, name: name, word: l.request.header[name][0]})
		}
	}
	return headers
}

// learnKnownCredential learns a header with a credential that the example names, and reports whether it is one.
func (l *learner) learnKnownCredential(header leaf) (bool, error) {
	if l.isKnown(header.word, "token", "key", "secret") {
		return true, l.learnCredential(header, "header")
	}
	scheme := l.schemeOf(header.word)
	if scheme == "" {
		return false, nil
	}
	l.overlay.Auth.Token = token{Header: header.name, Scheme: &scheme}
	return true, nil
}

// learnHeader learns a header whose value the example does not name.
func (l *learner) learnHeader(header leaf) error {
	isForRetries := retryName.match(header.name) // the contract rejects it, and says why
	switch {
	case isCredential(header.name, header.word) && !isForRetries:
		return l.learnUnknownCredential(header)
	case l.valueIn(header.word) != "":
		return l.examples.request.errorf("the header %s has a value of the message, which a contract cannot write", header.name)
	default:
		l.overlay.Headers[header.name] = header.word
		l.overlay.note("every request is sent with these: check that each value is no secret", "headers")
	}
	return nil
}

// learnUnknownCredential learns a header that looks like a credential as the key or its secret. If the request has other credentials in that
// place, it leaves the header out.
func (l *learner) learnUnknownCredential(header leaf) error {
	hasToken := l.request.user != "" || l.request.header.Get("Authorization") != "" || l.overlay.Auth.Token.Header != ""
	isTaken := l.learnedInPlaceOf(header) != ""
	if hasToken || isTaken {
		l.leaveOut("headers", header.name)
		return nil
	}
	if err := l.learnCredential(header, "header"); err != nil {
		return err
	}
	if !credentialName.match(header.name) {
		l.overlay.note("the value in the example looks like a credential: if it is not, write the header to headers", sectionAuth, "keyPair", "key")
	}
	return nil
}

// leaveOut adds a comment about a value that looks like a credential and is not written.
func (l *learner) leaveOut(keys ...string) {
	l.overlay.note("looks like a credential and is left out: write it here if it is not, or add key: or secret: to the example", keys...)
}

// notePath adds a comment about a path with a segment that looks random, such as a token or the ID of an account.
func (l *learner) notePath(section, path string) {
	if slices.ContainsFunc(strings.Split(path, "/"), isRandom) {
		l.overlay.note("a part of it looks random: if it is a secret or an account, write a variable such as {account} in its place", section, "path")
	}
}

// isKnown reports whether the request has a value under one of these keys.
func (l *learner) isKnown(value string, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return matches(value, l.examples.request.values[key]) })
}

// checkCredentials returns an error for a credential of the example that is not in its request.
func (l *learner) checkCredentials() error {
	var places []string
	for _, values := range l.request.header {
		places = append(places, values...)
	}
	user, password, _ := l.request.basic()
	places = append(places, user, password)
	for _, at := range append(formLeaves(l.request.query), l.leaves...) {
		places = append(places, at.word)
	}
	for _, key := range []string{"token", "key", "secret"} {
		value := l.examples.request.values[key]
		hasValue := func(place string) bool { return strings.Contains(place, value) }
		if value != "" && !slices.ContainsFunc(places, hasValue) {
			return l.examples.request.errorf("nothing in the example has the value of %s", key)
		}
	}
	return nil
}

// learnScheme learns the scheme before the token.
func (l *learner) learnScheme(value string) {
	scheme, _, ok := strings.Cut(value, " ")
	if !ok {
		scheme = ""
	}
	if scheme != l.defaults.Auth.Token.Scheme {
		l.overlay.Auth.Token.Scheme = &scheme
	}
}

// schemeOf returns the word before the known token in the value of a header, or "".
func (l *learner) schemeOf(value string) string {
	known := l.examples.request.values["token"]
	scheme, rest, _ := strings.Cut(value, " ")
	if known == "" || rest != known {
		return ""
	}
	return scheme
}

// learnCredential learns the name of the token's header, or of the key or its secret. Without a known value, only headers and parameters of
// the query with the name of a credential are credentials. A request with two keys, or with two secrets, is an error.
func (l *learner) learnCredential(credential leaf, in string) error {
	if l.isKnown(credential.word, "token") && in == "header" {
		l.overlay.Auth.Token = token{Header: credential.path, Scheme: new("")}
		return nil
	}
	if learned := l.learnedInPlaceOf(credential); learned != "" {
		const remedy = "a contract can write only a key and its secret: if one of them is the secret, add the line secret: and its value"
		return l.examples.request.errorf("%q and %q look like credentials of the same kind, and "+remedy, learned, credential.path)
	}
	pair := &l.overlay.Auth.KeyPair
	pair.In = in
	if l.isSecret(credential) {
		pair.Secret = &credential.path
		return nil
	}
	pair.Key = credential.path
	pair.Secret = cmp.Or(pair.Secret, new(""))
	return nil
}

// learnedInPlaceOf returns the name of the key that was learned before another key, or of the secret before another secret, or "".
func (l *learner) learnedInPlaceOf(credential leaf) string {
	pair := l.overlay.Auth.KeyPair
	switch {
	case !l.isSecret(credential):
		return pair.Key
	case pair.Secret != nil:
		return *pair.Secret
	}
	return ""
}

// isSecret reports whether a credential is the secret of a pair. Without the line secret, its name decides.
func (l *learner) isSecret(credential leaf) bool {
	hasSecret := l.examples.request.values["secret"] != ""
	return l.isKnown(credential.word, "secret") || !hasSecret && secretName.match(credential.name)
}
