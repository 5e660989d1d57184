package messaging

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/transport"
)

// Channel is a part of the service that may want credentials of its own. The zero value is no channel.
type Channel uint8

// The channels. The specification says how SMS may authenticate (a token in the Authorization header) and leaves the
// chat apps open: without further options they use the credentials of SMS.
const (
	ChannelSMS Channel = iota + 1
	ChannelChatApp1
	ChannelChatApp2
)

// String gives the channel's name, as in the contract.
func (c Channel) String() string {
	switch c {
	case ChannelSMS:
		return "sms"
	case ChannelChatApp1:
		return "chatapp1"
	case ChannelChatApp2:
		return "chatapp2"
	default:
		return fmt.Sprintf("channel %d", uint8(c))
	}
}

// Token is what a token source issues.
type Token struct {
	// Value is the token, without the scheme word. Required; printable, without line breaks.
	Value string
	// Expiry is when it stops being valid. Zero: it is used until the service refuses it.
	Expiry time.Time
}

// Format prints the expiry alone, in every verb.
func (t Token) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "messaging.Token(expires "+t.expires()+")")
}

// LogValue logs the expiry alone.
func (t Token) LogValue() slog.Value {
	return slog.StringValue("messaging.Token(expires " + t.expires() + ")")
}

// MarshalJSON encodes the expiry alone: a token does not belong into a log or a file by accident.
func (t Token) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Expiry time.Time `json:"expiry,omitzero"`
	}{t.Expiry})
}

func (t Token) expires() string {
	if t.Expiry.IsZero() {
		return "never"
	}
	return t.Expiry.Format(time.RFC3339)
}

// Auth puts credentials into a request. Authenticate is called once for each attempt, with the finished request, from
// many goroutines at once.
//
// It may set headers, add to the query and replace the body (GetBody gives the body to sign); host, scheme and method
// must stay as they are, since credentials go to the base URL only. An error stops the call with the verdict NotSent.
type Auth interface {
	Authenticate(r *http.Request) error
}

// AuthFunc is a function that authenticates, for a signature or whatever else the contract has no words for.
type AuthFunc func(r *http.Request) error

// Authenticate calls the function.
func (f AuthFunc) Authenticate(r *http.Request) error { return f(r) }

// Basic is HTTP Basic authentication. The user must not hold a colon; WithAuth refuses one that does.
func Basic(user, password string) Auth {
	return basic(func() (string, string) { return user, password })
}

// basic is a function so that no verb of package fmt prints what it gives.
type basic func() (user, password string)

func (b basic) Authenticate(r *http.Request) error {
	r.SetBasicAuth(b())
	return nil
}

// credential gives what authenticates one operation under a contract: an authenticator that runs for each attempt, or a
// key pair that is part of the request.
type credential func(places contract.Auth) (transport.Authenticator, codec.KeyPair)

func tokenCredential(token string) credential {
	return func(places contract.Auth) (transport.Authenticator, codec.KeyPair) {
		return transport.Header(places.Token.Header, strings.TrimSpace(places.Token.Scheme+" "+token)), nil
	}
}

func sourceCredential(fetch func(context.Context) (Token, error)) credential {
	source := transport.NewTokenSource(func(ctx context.Context) (string, time.Time, error) {
		token, err := fetch(ctx)
		return token.Value, token.Expiry, err
	})
	return func(places contract.Auth) (transport.Authenticator, codec.KeyPair) {
		return source.Authenticator(places.Token.Header, places.Token.Scheme), nil
	}
}

func keyCredential(key, secret string) credential {
	return func(places contract.Auth) (transport.Authenticator, codec.KeyPair) {
		switch place := places.KeyPair; place.In {
		case contract.KeyPairInHeader:
			return transport.Header(place.Key, key, place.Secret, secret), nil
		case contract.KeyPairInBasic:
			pair := base64.StdEncoding.EncodeToString([]byte(key + ":" + secret))
			return transport.Header("Authorization", "Basic "+pair), nil
		case contract.KeyPairInBody, contract.KeyPairInQuery:
			return nil, func() (contract.KeyPairPlace, [2]codec.Member) {
				return place.In, [2]codec.Member{{Name: place.Key, Value: key}, {Name: place.Secret, Value: secret}}
			}
		default:
			return nil, nil // a contract that was validated has no other
		}
	}
}

func authCredential(auth Auth) credential {
	return func(contract.Auth) (transport.Authenticator, codec.KeyPair) {
		return transport.Custom(auth.Authenticate), nil
	}
}
