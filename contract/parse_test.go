package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/table"
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

func TestParseEmptyOverlay(t *testing.T) {
	t.Parallel()
	for _, overlay := range []string{`{}`, " {\n}\n", `{"sms.send":{"fields":{}},"auth":{}}`} {
		c, err := contract.Parse([]byte(overlay))
		require.NoError(t, err)
		assert.Equal(t, table.Of(contract.Default()), table.Of(c))
	}
}

func TestParseMerges(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for name, tt := range map[string]struct {
		overlay string
		path    []string
		want    any
	}{
		"a key of an object":       {`{"sms.send":{"fields":{"from":"sender.id"}}}`, []string{"sms.send", "fields", "from"}, "sender.id"},
		"the keys beside it":       {`{"sms.send":{"fields":{"from":"sender.id"}}}`, []string{"sms.send", "fields", "to"}, "to"},
		"objects within":           {`{"auth":{"keyPair":{"in":"basic"}}}`, []string{"auth", "keyPair"}, object{"in": "basic", "key": "apiKey", "secret": "apiSecret"}},
		"lists as a whole":         {`{"sms.list":{"items":["rows"]}}`, []string{"sms.list", "items"}, []any{"rows"}},
		"an empty list":            {`{"sms.list":{"record":{"id":[]}}}`, []string{"sms.list", "record", "id"}, []any{}},
		"a list of numbers":        {`{"errors":{"notProcessed":[425,503]}}`, []string{"errors", "notProcessed"}, []any{json.Number("425"), json.Number("503")}},
		"numbers of constants":     {`{"sms.send":{"constants":{"a":1.50,"b":12345678901234567890,"c":1e400}}}`, []string{"sms.send", "constants"}, object{"a": json.Number("1.50"), "b": json.Number("12345678901234567890"), "c": json.Number("1e400")}},
		"constants of any kind":    {`{"sms.send":{"constants":{"a":"x <&>","b":true,"c":{"d":[1,{"e":null}]}}}}`, []string{"sms.send", "constants"}, object{"a": "x <&>", "b": true, "c": object{"d": []any{json.Number("1"), object{"e": nil}}}}},
		"entries of with":          {`{"chatapp1.send":{"with":{"callback":{"report":"yes"},"ttl":{"fallback":true}}}}`, []string{"chatapp1.send", "with"}, object{"callback": object{"report": "yes"}, "ttl": object{"fallback": true}}},
		"an entry of with beside":  {`{"sms.send":{"with":{"reference":{"track":1}}}}`, []string{"sms.send", "with"}, object{"callback": object{"dlrReport": json.Number("1")}, "reference": object{"track": json.Number("1")}}},
		"an empty entry of with":   {`{"sms.send":{"with":{"callback":{}}}}`, []string{"sms.send", "with"}, object{"callback": object{}}},
		"an empty name":            {`{"sms.send":{"fields":{"reference":""}}}`, []string{"sms.send", "fields", "reference"}, ""},
		"a comment":                {`{"sms.send":{"fields":{"to":"msisdn","to//":["msisdn",1]},"//":null}}`, []string{"sms.send", "fields", "to"}, "msisdn"},
		"codes of success":         {`{"errors":{"success":["1000"]}}`, []string{"errors", "success"}, []any{"1000"}},
		"a wrap":                   {`{"chatapp2.send":{"wrap":"message"}}`, []string{"chatapp2.send", "wrap"}, "message"},
		"paging without parameter": {`{"sms.list": {"paging": {"by": "offset", "first": 0}}}`, []string{"sms.list", "paging"}, object{"by": "offset", "first": json.Number("0"), "most": json.Number("0"), "whole": false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := contract.Parse([]byte(tt.overlay))
			require.NoError(t, err)
			text, err := json.Marshal(c)
			require.NoError(t, err)
			got := decode(t, text)
			for _, key := range tt.path {
				got = got.(map[string]any)[key]
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

const sendKeys = "accepted, constants, encoding, fields, headers, path, refused, response, scale, time, with, zone"

func unknownKey(known string) string {
	return "unknown key; known here: " + known + " (what no key says: docs/contract.md)"
}

func TestParseRefuses(t *testing.T) {
	const wholeText = ""
	whole, err := json.Marshal(contract.Default())
	require.NoError(t, err)
	keys := strings.Join(slices.Sorted(maps.Keys(decode(t, whole).(map[string]any))), ", ")
	sections := unknownKey(keys)
	for name, tt := range map[string]struct{ overlay, path, reason string }{
		"empty":                    {"", wholeText, "the overlay is empty; one that changes nothing is {}"},
		"blank":                    {" \n", wholeText, "the overlay is empty; one that changes nothing is {}"},
		"null":                     {`null`, wholeText, "is null; write an object with some of the keys " + keys},
		"a list":                   {`[]`, wholeText, "is a list; write an object with some of the keys " + keys},
		"a string":                 {`"x"`, wholeText, "is a string; write an object with some of the keys " + keys},
		"not UTF-8":                {"{\"auth\":\"\xff\"}", wholeText, "the overlay is not valid UTF-8"},
		"too large":                {"{" + strings.Repeat(" ", 64<<10) + "}", wholeText, "the overlay is larger than 65536 bytes"},
		"unknown operation":        {`{"sms.sned":{}}`, "sms.sned", sections},
		"unknown field":            {`{"sms.list":{"orders":{"down":"x"}}}`, "sms.list.orders.down", unknownKey("ascending, descending")},
		"comment in front":         {`{"sms.send":{"//path":"/x"}}`, "sms.send.//path", unknownKey(sendKeys)},
		"unknown column":           {`{"sms.list":{"sorts":{"text":"x"}}}`, "sms.list.sorts.text", unknownKey("category, country, created, deliveryStatus, from, id, operator, parts, price, reference, request, sendStatus, sent, to")},
		"unprintable column":       {`{"sms.list":{"sorts":{"created":"a\nb"}}}`, "sms.list.sorts.created", "holds a control character"},
		"unknown part":             {`{"chatapp2.send":{"field":{}}}`, "chatapp2.send.field", unknownKey("accepted, constants, encoding, fields, headers, path, refused, response, scale, time, ttl, with, wrap, zone")},
		"key of another case":      {`{"Auth":{}}`, "Auth", sections},
		"name of a Go field":       {`{"auth":{"Token":{}}}`, "auth.Token", unknownKey("keyPair, token")},
		"embedded struct":          {`{"sms.list":{"Send":{}}}`, "sms.list.Send", unknownKey("constants, encoding, headers, items, layouts, method, only, orders, page, paging, params, path, record, scale, sorts, time, zone")},
		"wrap of an SMS":           {`{"sms.send":{"wrap":"x"}}`, "sms.send.wrap", unknownKey(sendKeys)},
		"old key":                  {`{"sms.send":{"answer":{}}}`, "sms.send.answer", unknownKey(sendKeys)},
		"long list":                {`{"sms.send":{"accepted":[` + strings.Repeat(`"a",`, 256) + `"a"]}}`, "sms.send.accepted", "has more than 256 entries"},
		"many constants":           {`{"sms.send":{"with":{"to":{` + constants("w", 100) + `}},"constants":{` + constants("c", 156) + `}}}`, "sms.send.constants", "has, together with sms.send.with, more than 256 entries"},
		"many constants of a list": {`{"sms.list":{"constants":{` + constants("c", 257) + `}}}`, "sms.list.constants", "has more than 256 entries"},
		"unprintable key":          {`{"auth":{"a\nb":1}}`, `auth."a\nb"`, unknownKey("keyPair, token")},
		"endless key":              {`{"auth":{"` + strings.Repeat("k", 1000) + `":1}}`, `auth."` + strings.Repeat("k", 80) + `"...`, unknownKey("keyPair, token")},
		"empty key":                {`{"auth":{"":1}}`, `auth.""`, unknownKey("keyPair, token")},
		"repeated operation":       {`{"auth":{},"auth":{}}`, "auth", "is there twice"},
		"repeated field":           {`{"sms.send":{"fields":{"to":"a","to":"b"}}}`, "sms.send.fields.to", "is there twice"},
		"repeated by an escape":    {`{"sms.send":{"fields":{"to":"a","\u0074o":"b"}}}`, "sms.send.fields.to", "is there twice"},
		"repeated in a constant":   {`{"sms.send":{"constants":{"a":[{"b":1,"b":1}]}}}`, "sms.send.constants.a[0].b", "is there twice"},
		"null for an object":       {`{"auth":null}`, "auth", "is null; write an object with some of the keys keyPair, token"},
		"null for a name":          {`{"sms.send":{"fields":{"from":null}}}`, "sms.send.fields.from", "is null; write a string, such as \"from\""},
		"null for a list":          {`{"sms.list":{"items":null}}`, "sms.list.items", "is null; write a list, such as [\"data\"]"},
		"null in a list":           {`{"sms.list":{"items":["a",null]}}`, "sms.list.items[1]", "is null; write a string, such as \"data\""},
		"null for a number":        {`{"sms.list":{"paging":{"first":null}}}`, "sms.list.paging.first", "is null; write a whole number"},
		"null for constants":       {`{"sms.list":{"constants":null}}`, "sms.list.constants", "is null; write an object"},
		"null for a constant":      {`{"sms.send":{"constants":{"a":null}}}`, "sms.send.constants.a", "is null; write any other value, or leave it out"},
		"null for with":            {`{"sms.send":{"with":{"callback":null}}}`, "sms.send.with.callback", "is null; write an object"},
		"null within with":         {`{"sms.send":{"with":{"callback":{"a":null}}}}`, "sms.send.with.callback.a", "is null; write any other value, or leave it out"},
		"number for an object":     {`{"sms.send":1}`, "sms.send", "is a number; write an object with some of the keys " + sendKeys},
		"number for a name":        {`{"sms.send":{"path":1}}`, "sms.send.path", "is a number; write a string, such as \"/sms/send\""},
		"boolean for a name":       {`{"sms.send":{"path":true}}`, "sms.send.path", "is a boolean; write a string, such as \"/sms/send\""},
		"object for a choice":      {`{"sms.list":{"encoding":{}}}`, "sms.list.encoding", "is an object; write a string, such as \"query\""},
		"string for a list":        {`{"sms.list":{"items":"rows"}}`, "sms.list.items", "is a string; write a list, such as [\"data\"]"},
		"number in a list":         {`{"sms.list":{"items":[1]}}`, "sms.list.items[0]", "is a number; write a string, such as \"data\""},
		"string in a number list":  {`{"errors":{"notProcessed":[429,"503"]}}`, "errors.notProcessed[1]", "is a string; write a whole number"},
		"fraction":                 {`{"errors":{"notProcessed":[429.5]}}`, "errors.notProcessed[0]", "is not a whole number that can be held"},
		"huge number":              {`{"sms.list":{"paging":{"first":99999999999999999999}}}`, "sms.list.paging.first", "is not a whole number that can be held"},
		"list for with":            {`{"sms.send":{"with":{"callback":[]}}}`, "sms.send.with.callback", "is a list; write an object"},
		"string for constants":     {`{"sms.send":{"constants":"app"}}`, "sms.send.constants", "is a string; write an object"},
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

// TestParseShowsWhereJSONEnds: the column may differ by one between implementations of encoding/json.
func TestParseShowsWhereJSONEnds(t *testing.T) {
	t.Parallel()
	for overlay, place := range map[string]string{
		`{} {}`:                 "near line 1, column [34]",
		"{\n  \"auth\": x}":     "near line 2, column 1[01]",
		`{"auth":{`:             "near line 1, column (9|10)",
		"{\n\n \"é\": {}\n\t]}": "near line 4, column [23]",
	} {
		c, err := contract.Parse([]byte(overlay))
		problems := listed(t, err)
		require.Len(t, problems, 1)
		assert.Empty(t, problems[0].Path, "the whole overlay")
		assert.Regexp(t, "^the overlay is not one JSON value, "+place+"$", problems[0].Reason, overlay)
		assert.Equal(t, contract.Contract{}, c)
	}
}

func TestParseAtItsBounds(t *testing.T) {
	for name, overlay := range map[string]string{
		"size":      "{" + strings.Repeat(" ", 64<<10-2) + "}",
		"list":      `{"sms.send":{"accepted":[` + strings.Repeat(`"a",`, 255) + `"a"]}}`,
		"constants": `{"sms.send":{"with":{"to":{` + constants("w", 100) + `}},"constants":{` + constants("c", 155) + `}}}`, // and one of the default
		"depth":     `{"sms.send":{"constants":{"a":` + strings.Repeat("[", 13) + strings.Repeat("]", 13) + `}}}`,
	} {
		_, err := contract.Parse([]byte(overlay))
		assert.NoError(t, err, name)
	}
}

func TestParseRefusesVeryDeepOverlay(t *testing.T) {
	t.Parallel()
	_, err := contract.Parse([]byte(strings.Repeat("[", 64<<10)))
	assert.Len(t, listed(t, err), 1)
}

// constants returns the members of an object.
func constants(prefix string, count int) string {
	members := make([]string, count)
	for i := range members {
		members[i] = fmt.Sprintf(`"%s%d":1`, prefix, i)
	}
	return strings.Join(members, ",")
}

func TestParseBoundsItsError(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 200)
	deep := strings.Repeat(`{"`+long+`":`, 11) + `{"a":1,"a":1}` + strings.Repeat("}", 11)
	for name, overlay := range map[string]string{
		"unknown keys":   `{"sms.list":{"record":{` + constants("k", 5000) + `}}}`,
		"long keys":      `{"sms.list":{"record":{` + constants(long, 300) + `}}}`,
		"binary keys":    `{"sms.list":{"record":{` + constants(strings.Repeat(`\u0000`, 200), 40) + `}}}`,
		"wrong kinds":    `{"sms.list":{"items":[` + strings.Repeat("1,", 255) + `1]}}`,
		"repeated keys":  `{` + strings.Repeat(`"auth":{},`, 5000) + `"auth":{}}`,
		"deep and long":  `{"sms.send":{"constants":{"a":[` + strings.Repeat(deep+",", 20) + deep + `]}}}`,
		"names too long": `{"sms.send":{"constants":{` + constants(strings.Repeat("n", 250)+"too long", 100) + `}}}`,
	} {
		began := time.Now()
		_, err := contract.Parse([]byte(overlay))
		problems := listed(t, err)
		if assert.Len(t, problems, 21, name) {
			assert.Regexp(t, `^[0-9]+ more problems$`, problems[20].Reason)
			assert.Empty(t, problems[20].Path)
		}
		assert.Less(t, len(err.Error()), 16<<10, name)
		assert.Less(t, time.Since(began), 30*time.Second, name)
	}
	_, err := contract.Parse([]byte(`{` + constants("k", 20) + `}`))
	assert.Len(t, listed(t, err), 20)
	_, err = contract.Parse([]byte(`{` + constants("k", 25) + `}`))
	assert.ErrorContains(t, err, "\ncontract: 5 more problems")
}

func TestErrorOfTheWholeOverlay(t *testing.T) {
	_, err := contract.Parse(nil)
	assert.EqualError(t, err, "contract: the overlay is empty; one that changes nothing is {}")
}

func TestParseReportsEveryProblem(t *testing.T) {
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
		"auth.token.scheme", "sms.send.path", "sms.list.paging.by", "webhook.sms.zone",
	}, paths)
	for _, path := range paths {
		assert.Contains(t, err.Error(), "contract: "+path+": ")
	}
	var first *contract.Error
	require.ErrorAs(t, err, &first)
	assert.Equal(t, contract.Error{Path: "sms.send.path", Reason: "is there twice"}, *first)
}

// A constant may be a secret, and so may be what was written in a wrong place.
func TestParseDoesNotRepeatValues(t *testing.T) {
	const secret = "hunter2"
	for _, overlay := range []string{
		`{"auth":"hunter2"}`, `{"auth":{"token":{"header":"hunter2 "}}}`, `{"auth":{"token":{"scheme":"hunter2 "}}}`,
		`{"sms.send":{"constants":"hunter2"}}`, `{"sms.send":{"constants":{"a..b":"hunter2"}}}`, `{"sms.send":{"path":"hunter2"}}`,
		`{"sms.send":{"encoding":"hunter2"}}`, `{"sms.list":{"paging":{"by":"hunter2","most":5}}}`,
		`{"sms.send":{"fields":{"to":"hunter2..x"}}}`, `{"sms.list":{"zone":"hunter2"}}`,
		`{"errors":{"classes":{"invalid":["hunter2","*hunter2"],"duplicate":["hunter2"]}}}`,
		`{"auth":hunter2}`, `{"auth":"hunter2`, `"hunter2"`, `{"auth":"hunter2"} hunter2`,
	} {
		_, err := contract.Parse([]byte(overlay))
		if assert.Error(t, err, overlay) {
			assert.NotContains(t, err.Error(), secret, overlay)
		}
	}
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
		`{"sms.send":{"constants":{"referenceId":1,"dlrReport":2},"fields":{"from":"dlrCallback.from"}},"sms.list":{"constants":{"pageSize":5}}}`,
		`{"sms.send":{"fields":{"to":"messages.0.to.0","from":"messages.0.from"},"refused":["REJECTED*"],"scale":-4,"time":"unix","zone":"UTC"}}`,
		`{"headers":{"X-Api-Version":"3"},"sms.list":{"headers":{"x-api-version":""}},"auth":{"keyPair":{"in":"header","key":"X-Key","secret":""}}}`,
		`{"sms.list":{"method":"POST","encoding":"json","paging":{"by":"cursor"},"params":{"cursor":"after.0"},"page":{"next":["$last.id"]},"layouts":["02/01/2006 15:04"]}}`,
		`{"webhook.sms":{"events":["results",""],"params":{"from":["data.from"]},"layouts":["Jan 2 2006"]},"webhook.delivery":{"statuses":{"failed":["E*"]}}}`,
		`{"sms.send":{"constants":{"a":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}}}`, "{\"\xff\":1}", `{"\ud800":1}`,
		`{"sms.send":{"path":"//h","fields":{"from":"a..b","to":"","text":"a\u0001b"},"with":{"from":{"a":1},"odd":{}},"encoding":"odd","accepted":["a",7]}}`,
		`{"headers":{"a b":"1"},"sms.list":{"zone":"Nowhere","scale":99,"paging":{"first":-1,"by":"page"}},"auth":{"token":{"scheme":"a b"}}}`,
		`{"sms.list":{"paging":{"first":1.5}},"errors":{"notProcessed":[200]},"` + strings.Repeat("long", 30) + `":1,"a\u0001":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, overlay []byte) {
		c, err := contract.Parse(overlay)
		if err != nil {
			require.NotEmpty(t, listed(t, err))
			require.Less(t, len(err.Error()), 16<<10)
			require.Zero(t, c)
			return
		}
		require.True(t, json.Valid(overlay))
		for _, problem := range codec.CheckNames(table.Of(c)) {
			require.NotEmpty(t, problem.Reason)
		}
		text, err := json.Marshal(c)
		require.NoError(t, err)
		again, err := contract.Parse(text)
		require.NoError(t, err)
		againText, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(againText))
	})
}
