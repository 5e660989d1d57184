package learn

import (
	"cmp"
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

// leaveOut adds a comment about a value that looks like a credential and is not written.
func (n *notes) leaveOut(keys ...string) {
	n.note("looks like a credential and is left out: write it here if it is not, or add key: or secret: to the example", keys...)
}

// notePath adds a comment about a path with a segment that looks random, such as a token or the ID of an account.
func (n *notes) notePath(section, path string) {
	if slices.ContainsFunc(strings.Split(path, "/"), isRandom) {
		n.note("a part of it looks random: if it is a secret or an account, write a variable such as {account} in its place", section, "path")
	}
}

// credentials learns where a request has its token, or its key and its secret.
type credentials struct {
	example *Example // of the request
	overlay *overlay
}

// learn learns the name of the token's header, or of the key or its secret. Without a known value, only headers and parameters of
// the query with the name of a credential are credentials. A request with two keys, or with two secrets, is an error.
func (c credentials) learn(credential leaf, in string) error {
	if c.example.hasValue(credential.word, "token") && in == "header" {
		c.overlay.Auth.Token = token{Header: credential.path, Scheme: new("")}
		return nil
	}
	if learned := c.learnedInPlaceOf(credential); learned != "" {
		const remedy = "a contract can write only a key and its secret: if one of them is the secret, add the line secret: and its value"
		return c.example.errorf("%q and %q look like credentials of the same kind, and "+remedy, learned, credential.path)
	}
	pair := &c.overlay.Auth.KeyPair
	pair.In = in
	if c.isSecret(credential) {
		pair.Secret = &credential.path
		return nil
	}
	pair.Key = credential.path
	pair.Secret = cmp.Or(pair.Secret, new(""))
	return nil
}

// learnedInPlaceOf returns the name of the key that was learned before another key, or of the secret before another secret, or "".
func (c credentials) learnedInPlaceOf(credential leaf) string {
	pair := c.overlay.Auth.KeyPair
	switch {
	case !c.isSecret(credential):
		return pair.Key
	case pair.Secret != nil:
		return *pair.Secret
	}
	return ""
}

// isSecret reports whether a credential is the secret of a pair. Without the line secret, its name decides.
func (c credentials) isSecret(credential leaf) bool {
	hasSecret := c.example.values["secret"] != ""
	return c.example.hasValue(credential.word, "secret") || !hasSecret && secretName.match(credential.name)
}
