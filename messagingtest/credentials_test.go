package messagingtest

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCredentials(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	bearer := "Bearer " + s.Token
	pair := func(key, secret string) string {
		return `{"from":"ACME","to":"639171234567","text":"Hi","apiKey":` + key + `,"apiSecret":` + secret + `}`
	}
	q := strconv.Quote
	right := pair(q(s.APIKey), q(s.APISecret))
	for name, tc := range map[string]struct {
		authorization []string
		body          string
		status        int
	}{
		"token":                       {[]string{bearer}, goodBody, 200},
		"token, scheme in lower case": {[]string{"bearer " + s.Token}, goodBody, 200},
		"pair":                        {nil, right, 200},
		"token and pair":              {[]string{bearer}, right, 200},
		"none":                        {nil, goodBody, 401},
		"none, body is not JSON":      {nil, "x", 401},
		"empty header":                {[]string{""}, goodBody, 401},
		"token without a scheme":      {[]string{s.Token}, goodBody, 401},
		"token of another scheme":     {[]string{"Basic " + s.Token}, goodBody, 401},
		"another token":               {[]string{bearer + "x"}, goodBody, 401},
		"no token":                    {[]string{"Bearer "}, goodBody, 401},
		"two blanks":                  {[]string{"Bearer  " + s.Token}, goodBody, 401},
		"the header twice":            {[]string{bearer, bearer}, goodBody, 401},
		"wrong token, right pair":     {[]string{"Bearer x"}, right, 401},
		"right token, wrong pair":     {[]string{bearer}, pair(q("x"), q("y")), 401},
		"wrong key":                   {nil, pair(q("x"), q(s.APISecret)), 401},
		"wrong secret":                {nil, pair(q(s.APIKey), q("x")), 401},
		"swapped":                     {nil, pair(q(s.APISecret), q(s.APIKey)), 401},
		"key null":                    {nil, pair("null", q(s.APISecret)), 401},
		"empty":                       {nil, pair(`""`, `""`), 401},
		"key alone":                   {nil, `{"from":"ACME","to":"639171234567","text":"Hi","apiKey":` + q(s.APIKey) + `}`, 401},
	} {
		t.Run(name, func(t *testing.T) {
			s.Reset()
			req := newRequest(t, s, tc.body)
			req.Header.Del("Authorization")
			for _, value := range tc.authorization {
				req.Header.Add("Authorization", value)
			}
			r := do(client, req)
			require.NoError(t, r.err)
			assert.Equal(t, tc.status, r.status, "%s", r.body)
			assert.NotContains(t, string(r.body), s.Token)
			assert.NotContains(t, string(r.body), s.APISecret)
			if tc.status != http.StatusOK {
				assert.Equal(t, "40001", r.code(t))
				assert.Empty(t, s.Sent())
				return
			}
			require.Len(t, s.Sent(), 1)
			assert.Nil(t, s.Sent()[0].Extra, "credentials are not kept")
		})
	}
}

func TestCredentialsAreCheckedFirst(t *testing.T) {
	s := NewServer(t)
	req := newRequest(t, s, `{}`)
	req.Header.Set("Authorization", "Bearer x")
	assert.Equal(t, http.StatusUnauthorized, do(newClient(t), req).status)
}

func TestMissingCredentialsAreNamed(t *testing.T) {
	s := NewServer(t)
	req := newRequest(t, s, goodBody)
	req.Header.Del("Authorization")
	r := do(newClient(t), req)
	assert.Contains(t, string(r.body), "no credentials: want the header Authorization or a key pair in the body")
}
