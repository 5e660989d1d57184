package webhook_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

func TestNewReceiverFromEnv(t *testing.T) {
	file := filepath.Join(t.TempDir(), "contract.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"webhook.sms": {"params": {"from": ["absender"]}}}`), 0o600))
	broken := filepath.Join(t.TempDir(), "hunter2.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"webhook.sms": {"hunter2": 1}}`), 0o600))
	verify := webhook.WithVerifier(func(*http.Request) error { return nil })
	const unset = "unset"
	for _, tt := range []struct {
		name, contract, secret string
		options                []webhook.Option
		query                  string // that is accepted
		want                   string // in the error
	}{
		{name: "a secret", contract: unset, secret: "key=s3cret-of-16-chars", query: "from=1111&key=s3cret-of-16-chars"},
		{name: "a contract", contract: file, secret: "key=s3cret-of-16-chars", query: "absender=1111&key=s3cret-of-16-chars"},
		{name: "two secrets", contract: "", secret: " key = the-new-secret-16  the-old-secret-16 ", query: "from=1111&key=the-old-secret-16"},
		{name: "two secrets in base64", contract: "", secret: "key=bmV3LW5ldy1uZXc= b2xkLW9sZC1vbGQ=", query: "from=1111&key=b2xkLW9sZC1vbGQ%3D"},
		{
			name: "the parameter twice", contract: unset, secret: "key=hunter2-hunter2-hunter2 key=hunter2-hunter2-hunter3",
			want: "MESSAGING_WEBHOOK_SECRET: it has NAME= more than once: give the parameter once, as in key=NEW OLD",
		},
		{
			name: "two parameters", contract: unset, secret: "key=hunter2-hunter2-hunter2 other=hunter2-hunter2-hunter3",
			want: "MESSAGING_WEBHOOK_SECRET: it has NAME= more than once",
		},
		{
			name: "a comma", contract: unset, secret: "key=hunter2-hunter2-hunter2,hunter2-hunter2-hunter3",
			want: "MESSAGING_WEBHOOK_SECRET: it has a comma: separate several secrets by spaces, as in key=NEW OLD",
		},
		{name: "a secret with =", contract: unset, secret: "key=a=b==a=b==a=b==a", query: "from=1111&key=a=b==a=b==a=b==a"},
		{name: "no secret, and a verifier", contract: unset, secret: unset, options: []webhook.Option{verify}, query: "from=1111"},
		{name: "no secret, and WithoutProof", contract: unset, secret: unset, options: []webhook.Option{webhook.WithoutProof()}, query: "from=1111"},
		{name: "a short secret", contract: unset, secret: "key=hunter2", want: "webhook: MESSAGING_WEBHOOK_SECRET: a secret has fewer than 16 characters"},
		{name: "both", contract: unset, secret: "key=s3cret-of-16-chars", options: []webhook.Option{verify}, query: "from=1111&key=s3cret-of-16-chars"},
		{name: "no secret", contract: unset, secret: unset, want: "MESSAGING_WEBHOOK_SECRET: required as PARAMETER=SECRET, such as key=…, unless an option proves the origin"},
		{name: "an empty secret", contract: unset, secret: "", options: []webhook.Option{verify}, want: "MESSAGING_WEBHOOK_SECRET: want PARAMETER=SECRET"},
		{name: "a secret alone", contract: unset, secret: "hunter2", want: "MESSAGING_WEBHOOK_SECRET: want PARAMETER=SECRET"},
		{name: "a parameter alone", contract: unset, secret: "hunter2= ", want: "MESSAGING_WEBHOOK_SECRET: want PARAMETER=SECRET"},
		{name: "a secret in base64 alone", contract: unset, secret: "aHVudGVyMg==", want: "MESSAGING_WEBHOOK_SECRET: want PARAMETER=SECRET"},
		{name: "no parameter", contract: unset, secret: "=hunter2", want: "MESSAGING_WEBHOOK_SECRET: want PARAMETER=SECRET"},
		{name: "a parameter of the callback", contract: unset, secret: "from=hunter2-hunter2-hunter2", want: "webhook: MESSAGING_WEBHOOK_SECRET: the sms callback needs the parameter itself; choose another name"},
		{name: "no file", contract: "/hunter2", secret: "key=s3cret-of-16-chars", want: "MESSAGING_CONTRACT: the file that it names cannot be read: no such file"},
		{name: "no contract", contract: broken, secret: "key=s3cret-of-16-chars", want: "MESSAGING_CONTRACT: contract: webhook.sms"},
		{name: "both wrong", contract: "/hunter2", secret: "", want: "MESSAGING_WEBHOOK_SECRET: want"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, value := range map[string]string{"MESSAGING_CONTRACT": tt.contract, "MESSAGING_WEBHOOK_SECRET": tt.secret} {
				t.Setenv(name, value)
				if value == unset {
					require.NoError(t, os.Unsetenv(name))
				}
			}
			rcv, err := webhook.NewReceiverFromEnv(tt.options...)
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
				assert.NotContains(t, err.Error(), "/hunter2")
				assert.NotContains(t, err.Error(), "hunter2-")
				assert.Nil(t, rcv)
				return
			}
			require.NoError(t, err)
			m, err := rcv.ParseSMS(get(tt.query))
			require.NoError(t, err)
			assert.Equal(t, "1111", m.From)
		})
	}
}

func TestNewReceiverFromEnvReportsAllProblems(t *testing.T) {
	t.Setenv("MESSAGING_CONTRACT", "/absent.json")
	t.Setenv("MESSAGING_WEBHOOK_SECRET", "")
	_, err := webhook.NewReceiverFromEnv(webhook.WithVerifier(nil))
	require.ErrorContains(t, err, "MESSAGING_CONTRACT: ")
	require.ErrorContains(t, err, "MESSAGING_WEBHOOK_SECRET: want PARAMETER=SECRET")
	require.ErrorContains(t, err, "WithVerifier: the argument is nil")
}
