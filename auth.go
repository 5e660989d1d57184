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

// Token is what a token source returns. Printed, logged or encoded as JSON, XML, text or gob it shows its expiry only. Package fmt
// calls no methods of a value in an unexported field, and so prints a token there whole.
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

// credential is what authenticates a channel. Its fields are functions so that no verb of package fmt prints what they hold.
type credential struct {
	// compile returns, for the places of a contract, an authenticator that runs for each attempt, or else a key pair that is
	// part of the request.
	compile func(places table.Auth) (transport.Authenticator, codec.KeyPair)
	// check returns what set the credential, and what is wrong with it by the contract, or "". It is nil if nothing can be.
	check func(places table.Auth) (setBy, reason string)
	// tenants reports whether the credential may be that of many accounts.
	tenants bool
	// account has the breakers and the places of the account, by channel.
	account *account
}

func tokenCredential(token string) *credential {
	return &credential{
		account: newAccount(),
		compile: func(places table.Auth) (transport.Authenticator, codec.KeyPair) {
			return transport.Header(places.Token.Header, strings.TrimSpace(places.Token.Scheme+" "+token)), nil
		},
		check: func(places table.Auth) (setBy, reason string) {
			first, _, found := strings.Cut(strings.ReplaceAll(token, "\t", " "), " ")
			if scheme := places.Token.Scheme; found && scheme != "" && strings.EqualFold(first, scheme) {
				reason = fmt.Sprintf("got a token that begins with %q; want it without the scheme word, which the contract adds", scheme)
			}
			return "WithToken", reason
		},
	}
}

func sourceCredential(fetch func(context.Context) (Token, error)) *credential {
	source := transport.NewTokenSource(func(ctx context.Context) (string, time.Time, error) {
		token, err := fetch(ctx)
		return token.Value, token.Expiry, err
	})
	return &credential{account: newAccount(), compile: func(places table.Auth) (transport.Authenticator, codec.KeyPair) {
		return source.Authenticator(places.Token.Header, places.Token.Scheme), nil
	}}
}

func keyCredential(key, secret, secretFrom string) *credential {
	return &credential{
		account: newAccount(),
		compile: func(places table.Auth) (transport.Authenticator, codec.KeyPair) {
			switch place := places.KeyPair; {
			case place.In == "basic":
				pair := base64.StdEncoding.EncodeToString([]byte(key + ":" + secret))
				return transport.Header("Authorization", "Basic "+pair), nil
			case place.In != "header": // "body" or "query"
				return nil, func() (string, string) { return key, secret }
			case place.Secret == "":
				return transport.Header(place.Key, key), nil
			default:
				return transport.Header(place.Key, key, place.Secret, secret), nil
			}
		},
		check: func(places table.Auth) (setBy, reason string) {
			switch wanted := places.KeyPair.Secret != ""; {
			case secret != "" && !wanted:
				reason = "got a secret, but the contract has a key alone (auth.keyPair.secret)"
			case secret == "" && wanted:
				reason = "needs a secret beside the key, because the contract has one (auth.keyPair.secret)"
			}
			return secretFrom, reason
		},
	}
}

func basicCredential(user, password string) *credential {
	pair := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return &credential{account: newAccount(), compile: func(table.Auth) (transport.Authenticator, codec.KeyPair) {
		return transport.Header("Authorization", "Basic "+pair), nil
	}}
}

func customCredential(authenticate func(*http.Request) error) *credential {
	return &credential{account: newAccount(), tenants: true, compile: func(table.Auth) (transport.Authenticator, codec.KeyPair) {
		return transport.Custom(authenticate), nil
	}}
}
