package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecodersByHandReadWhatTheStandardLibraryReads(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"the response":        acceptedResponse,
		"white space":         " {\n\t\"status\" : \"ok\" , \"data\" : { \"id\" : \"1\" }\r\n} ",
		"unknown members":     `{"a":null,"b":[1,{"c":"]"},[]],"d":{"e":{}},"status":"ok","data":{"f":-1.5e3,"id":"1","g":true}}`,
		"an escape":           `{"status":"o\u006b","data":{"id":"a\"b"}}`,
		"empty objects":       `{"data":{}}`,
		"an ID that is none":  `{"data":{"id":null}}`,
		"nothing but letters": `{"status":"größer"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want, got plainResponse
			require.NoError(t, json.Unmarshal([]byte(body), &want))
			require.NoError(t, decodeAnswerByHand([]byte(body), &got))
			assert.Equal(t, want, got)
		})
	}
}

func TestDecodersByHandRefuseWhatTheStandardLibraryRefuses(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{`, `{"status":`, `{"status":"ok"`, `{"status":"ok",}`, `{"data":[]}`, `[]`, `{"status" "ok"}`} {
		assert.Error(t, decodeAnswerByHand([]byte(body), &plainResponse{}), body)
	}
}

func TestRowsByHandAreThoseOfTheStandardLibrary(t *testing.T) {
	t.Parallel()
	for i, page := range smsPages(2, rowsPerPage) {
		var want, got plainPage
		require.NoError(t, json.Unmarshal(page, &want))
		require.NoError(t, decodePageByHand(page, &got))
		require.Len(t, got.Data, rowsPerPage)
		assert.Equal(t, want, got)
		assert.Equal(t, i == 0, got.HasNext)
		clear(page)
		assert.Equal(t, want.Data[17], got.Data[17], "a row keeps nothing of the page that it came in")
	}
}

func TestWritingByHandIsWhatTheStandardLibraryWrites(t *testing.T) {
	t.Parallel()
	for _, r := range []plainRequest{plainMessage(), {}, {Text: "a \"quoted\" \\ text\nwith ünusual characters <&>"}} {
		want, err := json.Marshal(r)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(r.append(nil)))
	}
}
