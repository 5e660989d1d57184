package sandbox

import (
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// The environment variables that name an account, without that of the contract, which is table.EnvFile.
const (
	envBaseURL   = "MESSAGING_BASE_URL"
	envToken     = "MESSAGING_TOKEN"
	envAPIKey    = "MESSAGING_API_KEY"
	envAPISecret = "MESSAGING_API_SECRET"
)

// hasKeyPair reports whether programs authenticate by a key pair: the contract has another one than the default contract.
func hasKeyPair(names contract.Contract) bool {
	return table.Of(names).Auth.KeyPair != table.Of(contract.Default()).Auth.KeyPair
}

// A variable is an environment variable.
type variable struct{ Name, Value string }

// Assignment returns the variable as a shell and a file .env set it.
func (v variable) Assignment() string { return v.Name + "=" + cli.ShellWord(v.Value) }

// environment returns the variables of a program that uses the service at an address.
func (c *core) environment(base string) []variable {
	variables := []variable{{envBaseURL, base}}
	variables = append(variables, c.credentials()...)
	if c.config.ContractFile != "" {
		variables = append(variables, variable{table.EnvFile, c.config.ContractFile})
	}
	return variables
}

// credentials returns the variables with the credentials of a program. Under a contract with a key pair, the key is the token of the service.
func (c *core) credentials() []variable {
	if !hasKeyPair(c.config.Contract) {
		return []variable{{envToken, c.programToken()}}
	}
	key := c.service.APIKey
	if c.isKeyInHeader() {
		key = c.programToken()
	}
	if c.table.Auth.KeyPair.Secret == "" {
		return []variable{{envAPIKey, key}}
	}
	return []variable{{envAPIKey, key}, {envAPISecret, c.service.APISecret}}
}

// isKeyInHeader reports whether the key is in a header, where it can name a space.
func (c *core) isKeyInHeader() bool { return c.table.Auth.KeyPair.In == "header" }

// programToken returns the token of the service, with the suffix of the space.
func (c *core) programToken() string {
	if c.space == "" {
		return c.service.Token
	}
	return c.service.Token + "." + c.space
}

// credentialOption returns the option of a client with these credentials.
func credentialOption(credentials []variable) messaging.Option {
	switch {
	case credentials[0].Name == envToken:
		return messaging.WithToken(credentials[0].Value)
	case len(credentials) == 1:
		return messaging.WithAPIKey(credentials[0].Value, "")
	default:
		return messaging.WithAPIKey(credentials[0].Value, credentials[1].Value)
	}
}

// variableIn returns the name of the variable with the secret in a header of a request.
func (c *core) variableIn(header string) string {
	pair := c.table.Auth.KeyPair
	switch {
	case !c.isKeyInHeader():
		return envToken
	case strings.EqualFold(header, pair.Key):
		return envAPIKey
	case strings.EqualFold(header, pair.Secret):
		return envAPISecret
	default:
		return envToken
	}
}
