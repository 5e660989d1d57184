package contract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

// listed returns the problems that err joins.
func listed(t *testing.T, err error) (list []contract.Error) {
	t.Helper()
	require.Error(t, err)
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok, "%T", err)
	for _, err := range joined.Unwrap() {
		problem, ok := err.(*contract.Error)
		require.True(t, ok, "%T", err)
		list = append(list, *problem)
	}
	return list
}

func TestEmptyOverlayIsTheDefault(t *testing.T) {
	for _, overlay := range []string{`{}`, " {\n}\n", `{"sms.send":{"fields":{}},"auth":{}}`} {
		c, err := contract.Parse([]byte(overlay))
		require.NoError(t, err)
		assert.Equal(t, contract.Default(), c)
	}
}

func TestOverlayIsMerged(t *testing.T) {
	for name, tt := range map[string]struct {
		overlay string
		change  func(*contract.Contract)
	}{
		"objects key by key": {
			`{"sms.send":{"fields":{"from":"sender.id"}},"auth":{"keyPair":{"in":"basic"}}}`,
			func(c *contract.Contract) {
				c.SMSSend.Fields.From = "sender.id"
				c.Auth.KeyPair.In = contract.KeyPairInBasic
			},
		},
		"lists as a whole": {
			`{"sms.list":{"items":["rows"],"record":{"id":[]}},"errors":{"notProcessed":[425,503]}}`,
			func(c *contract.Contract) {
				c.SMSList.Items = []string{"rows"}
				c.SMSList.Record.ID = []string{}
				c.Errors.NotProcessed = []int{425, 503}
			},
		},
		"numbers of constants exactly as written": {
			`{"sms.send":{"constants":{"a":1.50,"b":12345678901234567890,"c":1e400}}}`,
			func(c *contract.Contract) {
				c.SMSSend.Constants = map[string]any{"a": json.Number("1.50"), "b": json.Number("12345678901234567890"), "c": json.Number("1e400")}
			},
		},
		"constants of any kind": {
			`{"sms.send":{"constants":{"a":"x","b":true,"c":{"d":[1,{"e":null}]}}}}`,
			func(c *contract.Contract) {
				c.SMSSend.Constants = map[string]any{"a": "x", "b": true, "c": map[string]any{"d": []any{json.Number("1"), map[string]any{"e": nil}}}}
			},
		},
		"entries of with as a whole, each for itself": {
			`{"chatapp1.send":{"with":{"callback":{"report":"yes"},"ttl":{"fallback":true}}}}`,
			func(c *contract.Contract) {
				c.ChatApp1Send.With = map[string]map[string]any{"callback": {"report": "yes"}, "ttl": {"fallback": true}}
			},
		},
		"an entry of with beside the default's": {
			`{"sms.send":{"with":{"reference":{"track":1}}}}`,
			func(c *contract.Contract) { c.SMSSend.With["reference"] = map[string]any{"track": json.Number("1")} },
		},
		"an empty entry of with drops the default's": {
			`{"sms.send":{"with":{"callback":{}}}}`,
			func(c *contract.Contract) { c.SMSSend.With["callback"] = map[string]any{} },
		},
		"an empty name takes a parameter away": {
			`{"sms.send":{"fields":{"reference":""}}}`,
			func(c *contract.Contract) { c.SMSSend.Fields.Reference = "" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := contract.Default()
			tt.change(&want)
			got, err := contract.Parse([]byte(tt.overlay))
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func TestOverlayThatIsNotUnderstoodIsRefused(t *testing.T) {
	const wholeText = ""
	for name, tt := range map[string]struct{ overlay, path, reason string }{
		"empty":                   {"", wholeText, "the overlay is empty; one that changes nothing is {}"},
		"blank":                   {" \n", wholeText, "the overlay is empty; one that changes nothing is {}"},
		"null":                    {`null`, wholeText, "is null, want an object"},
		"a list":                  {`[]`, wholeText, "is a list, want an object"},
		"a string":                {`"x"`, wholeText, "is a string, want an object"},
		"text after the object":   {`{} {}`, wholeText, "the overlay is not one JSON value, near line 1"},
		"not JSON":                {"{\n  \"auth\": x}", wholeText, "the overlay is not one JSON value, near line 2"},
		"cut":                     {`{"auth":{`, wholeText, "the overlay is not one JSON value, near line 1"},
		"not UTF-8":               {"{\"auth\":\"\xff\"}", wholeText, "the overlay is not valid UTF-8"},
		"too large":               {"{" + strings.Repeat(" ", 1<<20) + "}", wholeText, "the overlay is larger than 1048576 bytes"},
		"unknown operation":       {`{"sms.sned":{}}`, "sms.sned", "unknown key; known here: auth, chatapp1.send, chatapp2.send, errors, sms.list, sms.send, webhook.chatapp1, webhook.chatapp2, webhook.delivery, webhook.sms"},
		"unknown field":           {`{"sms.send":{"fields":{"sneder":"x"}}}`, "sms.send.fields.sneder", "unknown key; known here: callback, from, reference, text, to"},
		"unknown part":            {`{"chatapp2.send":{"field":{}}}`, "chatapp2.send.field", "unknown key; known here: accepted, answer, constants, encoding, fields, path, ttl, with, wrap"},
		"key of another case":     {`{"Auth":{}}`, "Auth", "unknown key; known here: auth, chatapp1.send, chatapp2.send, errors, sms.list, sms.send, webhook.chatapp1, webhook.chatapp2, webhook.delivery, webhook.sms"},
		"name of a Go field":      {`{"auth":{"Token":{}}}`, "auth.Token", "unknown key; known here: keyPair, token"},
		"embedded struct":         {`{"sms.list":{"Send":{}}}`, "sms.list.Send", "unknown key; known here: constants, items, orders, page, paging, params, path, record, time, zone"},
		"unprintable key":         {`{"auth":{"a\nb":1}}`, `auth."a\nb"`, "unknown key; known here: keyPair, token"},
		"endless key":             {`{"auth":{"` + strings.Repeat("k", 1000) + `":1}}`, `auth."` + strings.Repeat("k", 80) + `"...`, "unknown key; known here: keyPair, token"},
		"empty key":               {`{"auth":{"":1}}`, `auth.""`, "unknown key; known here: keyPair, token"},
		"repeated operation":      {`{"auth":{},"auth":{}}`, "auth", "stands there twice"},
		"repeated field":          {`{"sms.send":{"fields":{"to":"a","to":"b"}}}`, "sms.send.fields.to", "stands there twice"},
		"repeated by an escape":   {`{"sms.send":{"fields":{"to":"a","\u0074o":"b"}}}`, "sms.send.fields.to", "stands there twice"},
		"repeated in a constant":  {`{"sms.send":{"constants":{"a":[{"b":1,"b":1}]}}}`, "sms.send.constants.a[0].b", "stands there twice"},
		"null for an object":      {`{"auth":null}`, "auth", "is null, want an object"},
		"null for a name":         {`{"sms.send":{"fields":{"from":null}}}`, "sms.send.fields.from", "is null, want a string"},
		"null for a list":         {`{"sms.list":{"items":null}}`, "sms.list.items", "is null, want a list"},
		"null in a list":          {`{"sms.list":{"items":["a",null]}}`, "sms.list.items[1]", "is null, want a string"},
		"null for a number":       {`{"sms.list":{"paging":{"first":null}}}`, "sms.list.paging.first", "is null, want a whole number"},
		"null for constants":      {`{"sms.list":{"constants":null}}`, "sms.list.constants", "is null, want an object"},
		"null for a constant":     {`{"sms.send":{"constants":{"a":null}}}`, "sms.send.constants.a", "is null, want any other value"},
		"null for with":           {`{"sms.send":{"with":{"callback":null}}}`, "sms.send.with.callback", "is null, want an object"},
		"null within with":        {`{"sms.send":{"with":{"callback":{"a":null}}}}`, "sms.send.with.callback.a", "is null, want any other value"},
		"number for an object":    {`{"sms.send":1}`, "sms.send", "is a number, want an object"},
		"number for a name":       {`{"sms.send":{"path":1}}`, "sms.send.path", "is a number, want a string"},
		"boolean for a name":      {`{"sms.send":{"path":true}}`, "sms.send.path", "is a boolean, want a string"},
		"object for a choice":     {`{"sms.send":{"encoding":{}}}`, "sms.send.encoding", "is an object, want a string"},
		"string for a list":       {`{"sms.list":{"items":"rows"}}`, "sms.list.items", "is a string, want a list"},
		"number in a list":        {`{"sms.list":{"items":[1]}}`, "sms.list.items[0]", "is a number, want a string"},
		"string in a number list": {`{"errors":{"notProcessed":[429,"503"]}}`, "errors.notProcessed[1]", "is a string, want a whole number"},
		"fraction":                {`{"errors":{"notProcessed":[429.5]}}`, "errors.notProcessed[0]", "is not a whole number that can be held"},
		"huge number":             {`{"sms.list":{"paging":{"first":99999999999999999999}}}`, "sms.list.paging.first", "is not a whole number that can be held"},
		"list for with":           {`{"sms.send":{"with":{"callback":[]}}}`, "sms.send.with.callback", "is a list, want an object"},
		"string for constants":    {`{"sms.send":{"constants":"app"}}`, "sms.send.constants", "is a string, want an object"},
		"nested too deep": {
			`{"sms.send":{"constants":{"a":` + strings.Repeat("[", 14) + strings.Repeat("]", 14) + `}}}`,
			"sms.send.constants.a" + strings.Repeat("[0]", 13), "nests deeper than 16 levels",
		},
		"nested too deep in objects": {
			`{"sms.send":{"constants":` + strings.Repeat(`{"a":`, 15) + "1" + strings.Repeat("}", 15) + `}}`,
			"sms.send.constants" + strings.Repeat(".a", 14), "nests deeper than 16 levels",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := contract.Parse([]byte(tt.overlay))
			assert.Equal(t, []contract.Error{{Path: tt.path, Reason: tt.reason}}, listed(t, err))
			assert.Equal(t, contract.Contract{}, c)
		})
	}
}

func TestOverlayAtTheBoundsPasses(t *testing.T) {
	for name, overlay := range map[string]string{
		"size":  "{" + strings.Repeat(" ", 1<<20-2) + "}",
		"depth": `{"sms.send":{"constants":{"a":` + strings.Repeat("[", 13) + strings.Repeat("]", 13) + `}}}`,
	} {
		_, err := contract.Parse([]byte(overlay))
		assert.NoError(t, err, name)
	}
}

func TestVeryDeepOverlayIsRefused(t *testing.T) {
	_, err := contract.Parse([]byte(strings.Repeat("[", 1<<20)))
	assert.Len(t, listed(t, err), 1)
}

func TestProblemWithTheWholeOverlayNamesNoPlace(t *testing.T) {
	_, err := contract.Parse(nil)
	assert.EqualError(t, err, "contract: the overlay is empty; one that changes nothing is {}")
}

func TestAllProblemsAreReportedAtOnce(t *testing.T) {
	_, err := contract.Parse([]byte(`{
		"auth": {"token": {"scheme": "two words"}, "tokne": 1},
		"sms.send": {"path": "sms", "path": "sms", "fields": {"from": 1, "to": null}},
		"sms.list": {"paging": {"by": "pages"}},
		"webhook.sms": {"params": {"from": ["", 1]}, "zone": "Nowhere/Land"}
	}`))
	var paths []string
	for _, problem := range listed(t, err) {
		paths = append(paths, problem.Path)
	}
	assert.Equal(t, []string{
		"sms.send.path", "auth.tokne", "sms.send.fields.from", "sms.send.fields.to", "webhook.sms.params.from[1]",
		"sms.list.paging.by", "auth.token.scheme", "sms.send.path", "webhook.sms.zone",
	}, paths)
	for _, path := range paths {
		assert.Contains(t, err.Error(), "contract: "+path+": ")
	}
	var first *contract.Error
	require.ErrorAs(t, err, &first)
	assert.Equal(t, contract.Error{Path: "sms.send.path", Reason: "stands there twice"}, *first)
}

// A constant may be a secret, and so may be what was written in a wrong place.
func TestProblemsNeverRepeatValues(t *testing.T) {
	const secret = "hunter2"
	for _, overlay := range []string{
		`{"auth":"hunter2"}`, `{"auth":{"token":{"header":"hunter2 "}}}`, `{"auth":{"token":{"scheme":"hunter2 "}}}`,
		`{"sms.send":{"constants":"hunter2"}}`, `{"sms.send":{"constants":{"to":"hunter2"}}}`, `{"sms.send":{"path":"hunter2"}}`,
		`{"sms.send":{"encoding":"hunter2"}}`, `{"sms.send":{"fields":{"to":"hunter2..x"}}}`, `{"sms.list":{"zone":"hunter2"}}`,
		`{"sms.send":{"fields":{"to":"hunter2","from":"hunter2"}}}`, `{"errors":{"classes":{"invalid":["hunter2","*hunter2"],"duplicate":["hunter2"]}}}`,
		`{"auth":hunter2}`, `{"auth":"hunter2`, `"hunter2"`, `{"auth":"hunter2"} hunter2`,
	} {
		_, err := contract.Parse([]byte(overlay))
		if assert.Error(t, err, overlay) {
			assert.NotContains(t, err.Error(), secret, overlay)
		}
	}
}

// The parameter that a kind of paging needs may be named elsewhere, or never: it is the listing that asks for it.
func TestAnOverlayMayChangeThePagingAlone(t *testing.T) {
	names, err := contract.Parse([]byte(`{"sms.list": {"items": ["rows"], "time": "unix", "paging": {"by": "offset", "first": 0}}}`))
	require.NoError(t, err)
	assert.Equal(t, contract.Paging{By: contract.PagingByOffset}, names.SMSList.Paging)
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, `{} {}`, `null`, `{"auth":{},"auth":{}}`, `{"sms.send":{"fields":{"sneder":"x"}}}`,
		`{"sms.send":{"fields":{"from":"sender.id","text":"message"},"constants":{"app":"billing","n":1.50,"o":{"p":[null,true]}}}}`,
		`{"sms.send":{"encoding":"form","with":{"callback":{}},"accepted":[]}}`,
		`{"sms.list":{"items":["rows",""],"time":"unix","params":{"offset":"start"},"paging":{"by":"offset","first":0},"zone":"UTC"}}`,
		`{"sms.list":{"params":{"cursor":"after"},"paging":{"by":"cursor"}}}`,
		`{"auth":{"token":{"header":"X-Token","scheme":""},"keyPair":{"in":"header","key":"X-Key","secret":"X-Secret"}}}`,
		`{"errors":{"classes":{"invalid":["E*"]},"notProcessed":[425,429]}}`,
		`{"webhook.sms":{"params":{"from":["msisdn"]}},"webhook.delivery":{"placeholders":{"id":"{id}"},"statuses":{"failed":["2"]}}}`,
		`{"chatapp2.send":{"wrap":"message","path":"/v2/%7Bsend%7D","ttl":"m"}}`,
		`{"sms.send":{"constants":{"a":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}}}`, "{\"\xff\":1}", `{"\ud800":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, overlay []byte) {
		c, err := contract.Parse(overlay)
		if err != nil {
			require.NotEmpty(t, listed(t, err))
			return
		}
		require.True(t, json.Valid(overlay))
		text, err := json.Marshal(c)
		require.NoError(t, err)
		again, err := contract.Parse(text)
		require.NoError(t, err)
		require.Equal(t, c, again)
		require.Equal(t, c, c.Clone())
	})
}
