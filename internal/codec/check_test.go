package codec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/table"
)

func TestCheckNames(t *testing.T) {
	t.Parallel()
	const (
		together = "cannot be written together with "
		rename   = "; give one of them another name, or leave it out"
		gap      = "is in a list at a position with no position before it; positions begin at 0, without a gap"
	)
	for name, tt := range map[string]struct{ overlay, place, reason string }{
		"two fields of one name":         {`{"sms.send":{"fields":{"to":"from"}}}`, "sms.send.fields.to", together + "sms.send.fields.from" + rename},
		"two fields of one name in form": {`{"sms.send":{"encoding":"form","fields":{"to":"from"}}}`, "sms.send.fields.to", together + "sms.send.fields.from" + rename},
		"field within another":           {`{"sms.send":{"fields":{"from":"party","to":"party.to"}}}`, "sms.send.fields.to", together + "sms.send.fields.from" + rename},
		"field around another":           {`{"sms.send":{"fields":{"from":"a.b.c","to":"a"}}}`, "sms.send.fields.to", together + "sms.send.fields.from" + rename},
		"constant of a field's name":     {`{"sms.send":{"constants":{"to":"x"}}}`, "sms.send.constants.to", together + "sms.send.fields.to" + rename},
		"constant within a field":        {`{"sms.send":{"constants":{"to.kind":"x"}}}`, "sms.send.constants.to.kind", together + "sms.send.fields.to" + rename},
		"with of a field's name":         {`{"sms.send":{"with":{"callback":{"text":1}}}}`, "sms.send.with.callback.text", together + "sms.send.fields.text" + rename},
		"with of a constant's name":      {`{"sms.send":{"constants":{"a":1},"with":{"to":{"a":1}}}}`, "sms.send.with.to.a", together + "sms.send.constants.a" + rename},
		"with of another with's name":    {`{"sms.send":{"with":{"from":{"a":1},"to":{"a":1}}}}`, "sms.send.with.to.a", together + "sms.send.with.from.a" + rename},
		"wrap of a field's name":         {`{"chatapp2.send":{"fields":{"ttl":"life"},"wrap":"life"}}`, "chatapp2.send.wrap", together + "chatapp2.send.fields.ttl" + rename},
		"constants of an encoding":       {`{"sms.send":{"with":{"gsm":{"to":1}}}}`, "sms.send.with.gsm.to", together + "sms.send.fields.to" + rename},
		"constants of the other one":     {`{"sms.send":{"with":{"gsm":{"a":1},"unicode":{"a":2,"to.kind":1}}}}`, "sms.send.with.unicode.to.kind", together + "sms.send.fields.to" + rename},
		"position after the first":       {`{"sms.send":{"fields":{"to":"to.1"}}}`, "sms.send.fields.to", gap},
		"position after a gap":           {`{"sms.send":{"fields":{"from":"m.0.from","to":"m.2.to"}}}`, "sms.send.fields.to", gap},
		"position far beyond":            {`{"sms.send":{"fields":{"to":"to.9999.9999.9999"}}}`, "sms.send.fields.to", gap},
		"number that is no position":     {`{"sms.send":{"fields":{"from":"m.9223372036854775807","to":"m.0"}}}`, "sms.send.fields.to", together + "sms.send.fields.from" + rename},
		"list and member":                {`{"sms.send":{"fields":{"from":"m.name","to":"m.0"}}}`, "sms.send.fields.to", together + "sms.send.fields.from" + rename},
		"member and list":                {`{"sms.send":{"fields":{"from":"m.0","to":"m.name"}}}`, "sms.send.fields.to", together + "sms.send.fields.from" + rename},
		"list in another":                {`{"sms.send":{"fields":{"from":"to.0","to":"to"}}}`, "sms.send.fields.to", together + "sms.send.fields.from" + rename},

		"two parameters of one name":     {`{"sms.list":{"params":{"from":"number","to":"number"}}}`, "sms.list.params.to", together + "sms.list.params.from" + rename},
		"constant of the page":           {`{"sms.list":{"constants":{"pageNumber":10}}}`, "sms.list.constants.pageNumber", together + "sms.list.params.page" + rename},
		"key pair of a field's name":     {`{"chatapp1.send":{"fields":{"to":"apiKey"}}}`, "chatapp1.send.fields.to", together + "auth.keyPair.key" + rename},
		"key pair of a parameter's name": {`{"sms.list":{"params":{"status":"apiKey"}}}`, "sms.list.params.status", together + "auth.keyPair.key" + rename},
		"key pair in the query of a send": {
			`{"auth":{"keyPair":{"in":"query"}},"sms.send":{"encoding":"query","fields":{"to":"apiSecret"}}}`, "sms.send.fields.to", together + "auth.keyPair.secret" + rename,
		},
		"key pair in the query of a list": {`{"auth":{"keyPair":{"in":"query"}},"sms.list":{"params":{"status":"apiKey"}}}`, "sms.list.params.status", together + "auth.keyPair.key" + rename},
		"key pair in the body of a list": {
			`{"sms.list":{"method":"POST","encoding":"json","params":{"id":"apiKey.id"}}}`, "sms.list.params.id", together + "auth.keyPair.key" + rename,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, []table.Problem{{Path: tt.place, Reason: tt.reason}}, codec.CheckNames(parse(t, tt.overlay)))
		})
	}
}

func TestCheckNamesBoundsItsProblems(t *testing.T) {
	t.Parallel()
	var constants []string
	for i := range 200 {
		constants = append(constants, fmt.Sprintf(`"text.%d":1`, i))
	}
	problems := codec.CheckNames(parse(t, `{"sms.send":{"constants":{`+strings.Join(constants, ",")+`}}}`))
	require.Len(t, problems, 21)
	assert.Equal(t, "180 more problems", problems[20].Reason)
}

func TestCheckNamesFindsNothing(t *testing.T) {
	t.Parallel()
	for _, overlay := range []string{
		`{}`,
		`{"sms.send":{"with":{"gsm":{"type":"text"},"unicode":{"type":"unicode"}}}}`,
		`{"sms.send":{"fields":{"from":"m.0.from","to":"m.0.to.0","text":"m.1","reference":"m.2.tags.0"},"constants":{"m.0.kind":{"a":[]}}}}`,
		`{"sms.send":{"encoding":"query","fields":{"from":"party","to":"party.to"}}}`,
		`{"chatapp2.send":{"wrap":"message.inner","fields":{"ttl":"message.ttl"}}}`,
		`{"auth":{"keyPair":{"in":"header","key":"X-Key","secret":""}},"chatapp1.send":{"fields":{"to":"X-Key"}}}`,
	} {
		assert.Empty(t, codec.CheckNames(parse(t, overlay)), overlay)
	}
}
