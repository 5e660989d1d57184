package contract

import "strings"

// Auth says where credentials stand in a request. A client uses either the token or the key pair; the contract holds the
// places, never the credentials themselves.
type Auth struct {
	// Token is the place of a service-issued token.
	Token Token `json:"token"`
	// KeyPair is the place of a key and its secret.
	KeyPair KeyPair `json:"keyPair"`
}

// Token is the place of a service-issued token: Header: Scheme token.
type Token struct {
	// Header is the name of the header. The specification gives it: Authorization. A header that net/http or the client
	// writes itself (Host, Content-Type, Connection, ...) is refused.
	Header string `json:"header"`
	// Scheme is the word before the token, a default. Empty: the header holds the token alone.
	Scheme string `json:"scheme"`
}

// KeyPair is the place of a key and its secret. All of it is a default: the specification does not show its second option.
type KeyPair struct {
	// In is the part of the request that holds the pair.
	In KeyPairPlace `json:"in"`
	// Key is the name under which the key goes. Unused where In is [KeyPairInBasic], needed otherwise.
	Key string `json:"key"`
	// Secret is the name under which the secret goes. Unused where In is [KeyPairInBasic], needed otherwise.
	Secret string `json:"secret"`
}

// KeyPairPlace is a part of the request that can hold a key pair. The zero value is not a place and is refused.
type KeyPairPlace string

// The places of a key pair.
const (
	// KeyPairInBody puts the pair beside the parameters of the request: in the body of a POST, in the query of a GET.
	KeyPairInBody KeyPairPlace = "body"
	// KeyPairInQuery puts the pair in the query of every request.
	KeyPairInQuery KeyPairPlace = "query"
	// KeyPairInHeader puts key and secret in a header each.
	KeyPairInHeader KeyPairPlace = "header"
	// KeyPairInBasic sends the pair as user and password of HTTP basic authentication.
	KeyPairInBasic KeyPairPlace = "basic"
)

func (KeyPairPlace) known() []string {
	return []string{string(KeyPairInBasic), string(KeyPairInBody), string(KeyPairInHeader), string(KeyPairInQuery)}
}

func (a Auth) validate(found *problems) {
	found.addFault("auth.token.header", headerFault(a.Token.Header))
	if a.Token.Scheme != "" && !isToken(a.Token.Scheme) {
		found.add("auth.token.scheme", "is not a single word")
	}
	pair := a.KeyPair
	switch pair.In {
	case KeyPairInHeader:
		found.addFault("auth.keyPair.key", headerFault(pair.Key))
		found.addFault("auth.keyPair.secret", headerFault(pair.Secret))
		if strings.EqualFold(pair.Key, pair.Secret) {
			found.add("auth.keyPair.secret", "has the same name as auth.keyPair.key")
		}
	case KeyPairInBody, KeyPairInQuery:
		pairNames := newNames(pair.In == KeyPairInBody)
		found.addFault("auth.keyPair.key", pairNames.claim("auth.keyPair.key", pair.Key))
		found.addFault("auth.keyPair.secret", pairNames.claim("auth.keyPair.secret", pair.Secret))
	case KeyPairInBasic: // needs no names
	}
}

// claimNames takes the names of the pair where it goes beside the other parameters of a request. What is wrong with the names
// themselves is told once, by Auth.validate.
func (k KeyPair) claimNames(taken *names, inQuery bool) {
	if k.In == KeyPairInBody || k.In == KeyPairInQuery && inQuery {
		taken.claim("auth.keyPair.key", k.Key)
		taken.claim("auth.keyPair.secret", k.Secret)
	}
}
