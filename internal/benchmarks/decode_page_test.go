package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecodePageByHandAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	for i, page := range smsPages(2, rowsPerPage) {
		var want, got plainPage
		require.NoError(t, json.Unmarshal(page, &want))
		require.NoError(t, decodePageByHand(page, &got))
		require.Len(t, got.Data, rowsPerPage)
		for row := range got.Data {
			assert.Len(t, got.Data[row].Extra, 1)
			assert.Contains(t, got.Data[row].Extra, "ext")
			got.Data[row].Extra = nil
		}
		assert.Equal(t, want, got)
		assert.Equal(t, i == 0, got.HasNext)
		clear(page)
		assert.Equal(t, want.Data[17], got.Data[17], "a row keeps nothing of the page that it came in")
	}
}

func TestDecodePageByHandKeepsUnknownMembers(t *testing.T) {
	t.Parallel()
	var page plainPage
	require.NoError(t, decodePageByHand([]byte(`{"data":[{"id":"1","a": {"b":[1,"]"]} ,"c":null,"d":-1.5e3}]}`), &page))
	assert.Equal(t, []plainRow{{ID: "1", Extra: map[string]json.RawMessage{"a": []byte(`{"b":[1,"]"]}`), "c": []byte("null"), "d": []byte("-1.5e3")}}}, page.Data)
}

func TestDecodePageByHandReadsEscapes(t *testing.T) {
	t.Parallel()
	var page plainPage
	require.NoError(t, decodePageByHand([]byte(`{"data":[{"id":"o\u006b"}]}`), &page))
	assert.Equal(t, "ok", page.Data[0].ID)
}

func TestDecodePageByHandRejectsInvalidJSON(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{`, `{"hasNext":`, `{"hasNext":true,"data":[`, `{"data":[{]}`, `{"data":{}}`, `[]`, `{"data" []}`} {
		assert.Error(t, decodePageByHand([]byte(body), &plainPage{}), body)
	}
}
