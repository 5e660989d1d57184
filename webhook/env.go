package webhook

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
)

// The environment variables of NewReceiverFromEnv.
const (
	envContract = "MESSAGING_CONTRACT"
	envSecret   = "MESSAGING_WEBHOOK_SECRET"
)

// NewReceiverFromEnv returns a Receiver configured by environment variables:
//
//   - MESSAGING_CONTRACT: optional, the path of a file with a contract overlay, as for messaging.NewClientFromEnv
//   - MESSAGING_WEBHOOK_SECRET: the parameter of [WithSecret] and its secret, such as key=QZ5JEWNTJ4W5SXPJSAXLQJ6YPM. Several
//     secrets are separated by spaces; the first is the one that DeliveryURL writes. It may be absent only if an option
//     proves the origin: WithSecret, WithPathSecret or WithVerifier
//
// The options are applied on top. Errors name variables and never show their values.
func NewReceiverFromEnv(options ...Option) (*Receiver, error) {
	var fromEnv []Option
	var problems []error
	if file := os.Getenv(envContract); file != "" {
		names, err := readContract(file)
		if err != nil {
			problems = append(problems, fmt.Errorf("webhook: %s: %w", envContract, err))
		}
		fromEnv = append(fromEnv, WithContract(names))
	}
	value, given := os.LookupEnv(envSecret)
	parameter, secrets, found := strings.Cut(value, "=")
	switch parameter = strings.TrimSpace(parameter); {
	case !given:
	case parameter == "" || !found || isBlank(secrets):
		problems = append(problems, errors.New("webhook: "+envSecret+": want PARAMETER=SECRET, such as key=…; got none of the form"))
	default:
		fromEnv = append(fromEnv, WithSecret(parameter, strings.Fields(secrets)...))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	rcv, err := NewReceiver(append(fromEnv, options...)...)
	if err == nil && len(rcv.secrets)+len(rcv.pathSecrets)+len(rcv.verifiers) == 0 {
		return nil, errors.New("webhook: " + envSecret + ": required, unless an option proves the origin; anyone could call")
	}
	return rcv, err
}

// readContract reads an overlay from a file. An error does not show the path, which the variable may not be meant to hold.
func readContract(file string) (contract.Contract, error) {
	overlay, err := os.ReadFile(file) //nolint:gosec // the user names the file
	if err != nil {
		return contract.Contract{}, fmt.Errorf("the file that it names cannot be read: %w", errors.Unwrap(err))
	}
	return contract.Parse(overlay)
}
