package learn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestParseURL has the URLs of curl commands and the targets of HTTP requests.
func TestParseURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ path, query string }{
		"curl api.example.com?x=1":                            {"/", "x=1"},
		"curl api.example.com":                                {"/", ""},
		"curl api.example.com/v1/m?x=a/b":                     {"/v1/m", "x=a/b"},
		"curl api.example.com/m?u=https://shop.example.com/d": {"/m", "u=https://shop.example.com/d"},
		"curl localhost:8080/m":                               {"/m", ""},
		"curl https://api.example.com?x=1":                    {"/", "x=1"},
		"curl https://api.example.com/m#send":                 {"/m", ""},
		"curl /m?x=1":                                         {"/m", "x=1"},
		"POST /m?u=https://shop.example.com/d HTTP/1.1":       {"/m", "u=https://shop.example.com/d"},
		"POST https://api.example.com/m HTTP/1.1":             {"/m", ""},
		"POST https://api.example.com HTTP/1.1":               {"/", ""},
		"POST api.example.com/m":                              {"/m", ""},
		"POST send.php?x=a/b":                                 {"/send.php", "x=a/b"},
	} {
		got, err := parseRequest(text)
		require.NoError(t, err, text)
		assert.Equal(t, want.path, got.path, text)
		assert.Equal(t, want.query, got.query, text)
	}
}
