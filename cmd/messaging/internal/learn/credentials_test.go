package learn

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

// TestIsCredential has names and values that look like credentials, and others that are written as constants.
func TestIsCredential(t *testing.T) {
	t.Parallel()
	const plain = "3"
	for name, want := range map[string]bool{
		"X-Shop-Key": true, "X-Api-Key": true, "Api-Access-Key": true, "Apikey": true, "APIKEY": true, "apiKeyId": true, "X-Key-Id": true, "keys": true,
		"X-Shop-Token": true, "userToken": true, "X-Secret": true, "App-Secret-Value": true, "X-Password": true, "X-Passwd": true, "pwd": true,
		"X-Auth": true, "X-Auth-User": true, "basicAuth": true, "oauth": true, "Proxy-Authorization": true, "X-Signature": true, "user_name": true,
		"X-Credentials": true, "X-Session": true,
		"X-Api-Version": false, "X-Keyword": false, "keyword": false, "KEYWORD": false, "X-Tenant": false, "X-Channel": false,
	} {
		assert.Equal(t, want, isCredential(name, plain), name)
	}
	for value, want := range map[string]bool{
		"8f2a9c7716bd4e01a2c3": true, "sk_live_4eC39HqLyjWDarjtT1zdp7dc": true, "f47ac10b-58cc-4372-a567-0e02b2c3d479": true,
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.x": true, "Bearer 8f2a9c7716bd4e01": true,
		"": false, "3": false, "2026-11-28": false, "2026-11-28T08:05:00Z": false, "20261128T080500Z": false, "20261128T080500+0800": false,
		"1.24.3-beta.2+build.5114": false, "application/vnd.shop.v2+json; charset=utf-8": false, "https://shop2.example.com/inbound/v3": false,
		"transactional": false, "internationalization": false, "shop-sms-client-v2": false, "639171234567": false,
	} {
		assert.Equal(t, want, isCredential("X-Other", value), value)
	}
}

// TestLearnWritesNoCredentialOfHeader: no line of the example says that the headers have credentials.
func TestLearnWritesNoCredentialOfHeader(t *testing.T) {
	t.Parallel()
	const hidden = "8f2a9c7716bd4e01a2c3"
	for name, tt := range map[string]struct {
		values, headers string
		want            map[string]any
		note            []string // the key of a comment
	}{
		"by its name": {
			"", "X-Shop-Key: hush\n",
			map[string]any{"keyPair": map[string]any{"in": "header", "key": "X-Shop-Key", "secret": ""}},
			nil,
		},
		"by its value": {
			"", "X-Gate: " + hidden + "\n",
			map[string]any{"keyPair": map[string]any{
				"in": "header", "key": "X-Gate", "secret": "",
				"key//": "the value in the example looks like a credential: if it is not, write the header to headers",
			}},
			nil,
		},
		"a key and its secret": {
			"", "X-Shop-Key: hush\nX-Shop-Secret: hush\n",
			map[string]any{"keyPair": map[string]any{"in": "header", "key": "X-Shop-Key", "secret": "X-Shop-Secret"}},
			nil,
		},
		"another key than the one of the line": {
			"key: K3y\n", "X-Gate: K3y\nX-Account-Key: hush\nX-Trace: " + hidden + "\n",
			map[string]any{"keyPair": map[string]any{"in": "header", "key": "X-Gate", "secret": ""}},
			[]string{"headers", "X-Account-Key//"},
		},
		"another key than the token of the line": {
			"token: T0ken\n", "X-Gate: T0ken\nX-Account-Key: hush\n",
			map[string]any{"token": map[string]any{"header": "X-Gate", "scheme": ""}},
			[]string{"headers", "X-Account-Key//"},
		},
		"a key next to a bearer token": {
			"", "Authorization: Bearer hush\nX-Account: " + hidden + "\n",
			nil,
			[]string{"headers", "X-Account//"},
		},
		"a key next to a user and a password": {
			"", "Authorization: Basic SzN5OlMzY3JldA==\nX-Account-Key: hush\n",
			map[string]any{"keyPair": map[string]any{"in": "basic"}},
			[]string{"headers", "X-Account-Key//"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			examples, err := Parse("=== request\nto: 639171234567\ntext: Hi there\n" + tt.values + "\nPOST /m\n" + tt.headers + "\n" +
				`{"to":"639171234567","text":"Hi there"}` + "\n\n" + acceptedText)
			require.NoError(t, err)
			got, err := Learn(examples)
			require.NoError(t, err)
			assert.NotContains(t, got.Overlay, "hush")
			assert.NotContains(t, got.Overlay, hidden)
			_, err = contract.Parse([]byte(got.Overlay))
			require.NoError(t, err)
			overlay := overlayOf(t, got)
			if tt.want == nil {
				assert.NotContains(t, overlay, "auth", "the default is a bearer token")
			} else {
				assert.Equal(t, tt.want, overlay["auth"])
			}
			if tt.note != nil {
				assert.Contains(t, at(overlay, tt.note...), "looks like a credential and is left out")
			}
		})
	}
}

// TestLearnRefusesSecondKeyOfQuery: a contract writes one key, so that the service would refuse each request without the other.
func TestLearnRefusesSecondKeyOfQuery(t *testing.T) {
	t.Parallel()
	const target = "POST /m?api_key=hush&session=hush-2\n\n"
	request := func(values string) string {
		return "=== request\nto: 639171234567\ntext: Hi there\n" + values + "\n" + target + `{"to":"639171234567","text":"Hi there"}` + "\n\n"
	}
	_, err := learnObject(t, request("")+acceptedText)
	require.ErrorContains(t, err, `"api_key" and "session" look like credentials of the same kind`)
	assert.NotContains(t, err.Error(), "hush")
	got, err := learnObject(t, request("secret: hush-2\n")+acceptedText)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"in": "query", "key": "api_key", "secret": "session"}, at(got, "auth", "keyPair"))
}

// TestLearnWritesNoRandomConstant: a key in the body may have any name.
func TestLearnWritesNoRandomConstant(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, "=== request\nto: 639171234567\ntext: Hi there\n\nPOST /m\n\n"+
		`{"to":"639171234567","text":"Hi there","gate":"8f2a9c7716bd4e01a2c3"}`+"\n\n"+acceptedText)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"gate//": "looks like a credential and is left out: write it here if it is not, or add key: or secret: to the example",
	}, at(got, "sms.send", "constants"))
}

// TestLearnCommentsRandomPath: a person decides whether a part of a path is a secret.
func TestLearnCommentsRandomPath(t *testing.T) {
	t.Parallel()
	for path, isRandom := range map[string]bool{"/v3/accounts/8f2a9c7716bd4e01a2c3/sms": true, "/v3/accounts/{account}/messages2026": false} {
		got, err := learnObject(t, "=== request\nto: 639171234567\ntext: Hi there\n\nPOST "+path+"\n\n"+
			`{"to":"639171234567","text":"Hi there"}`+"\n\n"+acceptedText+"=== row\nid: h-1\npath: "+path+"\n\n"+rowText)
		require.NoError(t, err)
		for _, section := range []string{"sms.send", "sms.list"} {
			note, _ := at(got, section, "path//").(string)
			assert.Equal(t, isRandom, strings.Contains(note, "looks random"), path)
		}
	}
}

// TestLearnCommentsConstantHeaders: a person checks each header that is written.
func TestLearnCommentsConstantHeaders(t *testing.T) {
	t.Parallel()
	const request = "=== request\nto: 639171234567\ntext: Hi there\n\nPOST /m\n"
	const body = "\n" + `{"to":"639171234567","text":"Hi there"}` + "\n\n" + acceptedText
	got, err := learnObject(t, request+"X-Version: 3\n"+body)
	require.NoError(t, err)
	assert.Equal(t, "every request is sent with these: check that each value is no secret", got["headers//"])
	got, err = learnObject(t, request+body)
	require.NoError(t, err)
	assert.NotContains(t, got, "headers//")

	_, err = learnObject(t, request+"Idempotency-Key: f47ac10b-58cc-4372-a567-0e02b2c3d479\n"+body)
	require.ErrorContains(t, err, "makes net/http retry a POST by itself", "no credential")
}

// TestLearnSchemeOfAnyHeader: a token may follow a scheme in a header of any name. Without the scheme, the service would refuse each request.
func TestLearnSchemeOfAnyHeader(t *testing.T) {
	t.Parallel()
	const request = "=== request\nto: 639171234567\ntext: Hi\ntoken: tok-1\n\n" +
		`curl https://api.example.com/v3/messages -H 'X-Auth: Key tok-1' -d '{"to": "639171234567", "text": "Hi"}'` + "\n\n"
	got, err := learnObject(t, request+acceptedText)
	require.NoError(t, err)
	assert.Equal(t, "X-Auth", at(got, "auth", "token", "header"))
	assert.Equal(t, "Key", at(got, "auth", "token", "scheme"))
	assert.Nil(t, at(got, "auth", "keyPair"))
}

// TestLearnErrorCodeOfADelivery: without its name, a program does not see why a message failed, and sends no fallback.
func TestLearnErrorCodeOfADelivery(t *testing.T) {
	t.Parallel()
	const delivery = "=== delivery\nid: h-1\nstatus: FAILED\nmeans: failed\nerrorCode: 131047\n\n" + `{"handle": "h-1", "state": "FAILED", "why": 131047}`
	got, err := learnObject(t, requestText+acceptedText+delivery)
	require.NoError(t, err)
	assert.Equal(t, []any{"why"}, at(got, "webhook.delivery", "params", "errorCode"))
}
