package messaging

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/transport"
)

// A Token is the result of a token source; see WithTokenSource. Printed, logged or encoded as JSON, XML, text or gob, it shows its expiry only.
// In an unexported field of a struct it is printed whole, because package fmt calls no methods there.
type Token struct {
	// Value is the token, without the scheme word. Required; printable, without line breaks.
	Value string
	// Expiry is when the token stops being valid. The zero time means that it is used until the service refuses it.
	Expiry time.Time
}

// Format prints the expiry in every verb.
func (t Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.summary()) }

// LogValue logs the expiry.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.summary()) }

// MarshalText encodes the expiry, for encoding/json, encoding/xml and the like.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.summary()), nil }

// MarshalBinary encodes the expiry, for encoding/gob and the like.
func (t Token) MarshalBinary() ([]byte, error) { return []byte(t.summary()), nil }

func (t Token) summary() string {
	if t.Expiry.IsZero() {
		return "messaging.Token(never expires)"
	}
	return "messaging.Token(expires " + t.Expiry.Format(time.RFC3339) + ")"
}

// A credential authenticates a channel. Its secrets are in functions so that no verb of package fmt prints them.
type credential struct {
	// compile returns, for a contract, an authenticator that runs for each attempt, or a key pair that is part of the request.
	compile func(names table.Auth) (transport.Authenticator, codec.KeyPair)
	// check returns the option or variable that set the credential, and why it does not fit the contract, or "". It may be nil.
	check func(names table.Auth) (setBy, reason string)
	// isMultiTenant reports whether the credential may be that of many accounts.
	isMultiTenant bool
	// account has the breakers and the slots of the account.
	account *account
}

func tokenCredential(token, from string) *credential {
	return &credential{
		account: newAccount(),
		compile: func(names table.Auth) (transport.Authenticator, codec.KeyPair) {
			return transport.Header(names.Token.Header, strings.TrimSpace(names.Token.Scheme+" "+token)), nil
		},
		check: func(names table.Auth) (setBy, reason string) {
			first, _, found := strings.Cut(strings.ReplaceAll(token, "\t", " "), " ")
			if scheme := names.Token.Scheme; found && scheme != "" && strings.EqualFold(first, scheme) {
				reason = fmt.Sprintf("got a token that begins with %q; want it without the scheme word, which the contract adds", scheme)
			}
			return from, reason
		},
	}
}

func sourceCredential(fetch func(context.Context) (Token, error)) *credential {
	source := transport.NewTokenSource(func(ctx context.Context) (string, time.Time, error) {
		token, err := fetch(ctx)
		return token.Value, token.Expiry, err
	})
	return &credential{account: newAccount(), compile: func(names table.Auth) (transport.Authenticator, codec.KeyPair) {
		return source.Authenticator(names.Token.Header, names.Token.Scheme), nil
	}}
}

// apiKey is a key and its secret.
type apiKey struct {
	key                string
	secret             string // "" for a key alone
	keyFrom            string // the option or environment variable that set the key, for problems
	secretFrom         string // the same for the secret
	envNamesNoContract bool   // the key comes from the environment, which leaves the contract to the default
}

func keyCredential(k apiKey) *credential {
	return &credential{account: newAccount(), compile: k.compile, check: k.check}
}

func (k apiKey) compile(names table.Auth) (transport.Authenticator, codec.KeyPair) {
	pair := names.KeyPair
	switch {
	case pair.In == "basic":
		return basicHeader(k.key, k.secret), nil
	case pair.In != "header": // "body" or "query"
		return nil, func() (string, string) { return k.key, k.secret }
	case pair.Secret == "":
		return transport.Header(pair.Key, k.key), nil
	default:
		return transport.Header(pair.Key, k.key, pair.Secret, k.secret), nil
	}
}

// check returns why the key does not fit the contract: it has a secret and needs none, or the other way round.
func (k apiKey) check(names table.Auth) (setBy, reason string) {
	hasSecret := k.secret != ""
	needsSecret := names.KeyPair.Secret != ""
	isDefault := names.KeyPair == table.Default().Auth.KeyPair
	switch {
	case hasSecret == needsSecret:
		return "", ""
	case hasSecret:
		return k.secretFrom, "got a secret, but the contract has a key alone (auth.keyPair.secret)"
	case isDefault && k.envNamesNoContract:
		return k.secretFrom, "needs a secret, too, because the default contract has one (auth.keyPair.secret), and " + table.EnvFile + " is not set"
	default:
		return k.secretFrom, "needs a secret, too, because the contract has one (auth.keyPair.secret)"
	}
}

func basicCredential(user, password string) *credential {
	return &credential{account: newAccount(), compile: func(table.Auth) (transport.Authenticator, codec.KeyPair) {
		return basicHeader(user, password), nil
	}}
}

func basicHeader(user, password string) transport.Authenticator {
	pair := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return transport.Header("Authorization", "Basic "+pair)
}

func customCredential(authenticate func(*http.Request) error) *credential {
	return &credential{account: newAccount(), isMultiTenant: true, compile: func(table.Auth) (transport.Authenticator, codec.KeyPair) {
		return transport.Custom(authenticate), nil
	}}
}
