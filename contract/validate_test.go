package contract_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/contract"
)

func TestContractThatCannotWorkIsRefused(t *testing.T) {
	type c = *contract.Contract
	for name, tt := range map[string]struct {
		change func(c)
		path   string
		reason string
	}{
		"token header empty":              {func(c c) { c.Auth.Token.Header = "" }, "auth.token.header", "is not the name of a header"},
		"token header with a space":       {func(c c) { c.Auth.Token.Header = "X Token" }, "auth.token.header", "is not the name of a header"},
		"token header with a line break":  {func(c c) { c.Auth.Token.Header = "X\r\nY" }, "auth.token.header", "is not the name of a header"},
		"token header of net/http":        {func(c c) { c.Auth.Token.Header = "hOST" }, "auth.token.header", "names a header that the client or net/http writes itself"},
		"token header that repeats posts": {func(c c) { c.Auth.Token.Header = "Idempotency-Key" }, "auth.token.header", "names a header on which net/http repeats a POST by itself"},
		"scheme of two words":             {func(c c) { c.Auth.Token.Scheme = "Bearer of" }, "auth.token.scheme", "is not a single word"},
		"key pair nowhere":                {func(c c) { c.Auth.KeyPair.In = "" }, "auth.keyPair.in", "unknown value; known: basic, body, header, query"},
		"key without a name":              {func(c c) { c.Auth.KeyPair.Key = "" }, "auth.keyPair.key", "is empty"},
		"secret without a name in a query": {
			func(c c) { c.Auth.KeyPair.In, c.Auth.KeyPair.Secret = contract.KeyPairInQuery, "" }, "auth.keyPair.secret", "is empty",
		},
		"key and secret of one name": {
			func(c c) { c.Auth.KeyPair.Key = c.Auth.KeyPair.Secret }, "auth.keyPair.secret", "has the same name as auth.keyPair.key",
		},
		"key and secret in one header": {
			func(c c) {
				c.Auth.KeyPair = contract.KeyPair{In: contract.KeyPairInHeader, Key: "X-Key", Secret: "x-key"}
			},
			"auth.keyPair.secret", "has the same name as auth.keyPair.key",
		},
		"key in a header of net/http": {
			func(c c) {
				c.Auth.KeyPair = contract.KeyPair{In: contract.KeyPairInHeader, Key: "Content-Length", Secret: "X"}
			},
			"auth.keyPair.key", "names a header that the client or net/http writes itself",
		},
		"secret in no header": {
			func(c c) { c.Auth.KeyPair = contract.KeyPair{In: contract.KeyPairInHeader, Key: "X", Secret: "a:b"} },
			"auth.keyPair.secret", "is not the name of a header",
		},

		"error code path":                {func(c c) { c.Errors.Code = []string{"code", "error."} }, "errors.code[1]", "has an empty part between its dots"},
		"error message path":             {func(c c) { c.Errors.Message = []string{"."} }, "errors.message[0]", "has an empty part between its dots"},
		"error message path's part":      {func(c c) { c.Errors.Message = []string{"a..b"} }, "errors.message[0]", "has an empty part between its dots"},
		"error request path":             {func(c c) { c.Errors.Request = []string{"."} }, "errors.request[0]", "has an empty part between its dots"},
		"empty code":                     {func(c c) { c.Errors.Classes.Invalid = []string{""} }, "errors.classes.invalid[0]", "is empty"},
		"star inside a code":             {func(c c) { c.Errors.Classes.Invalid = []string{"1", "4*4"} }, "errors.classes.invalid[1]", "holds a * that is not at its end"},
		"two stars":                      {func(c c) { c.Errors.Classes.Invalid = []string{"4**"} }, "errors.classes.invalid[0]", "holds a * that is not at its end"},
		"code of two classes":            {func(c c) { c.Errors.Classes.NotFound = []string{"40002"} }, "errors.classes.rateLimited[0]", "stands under errors.classes.notFound too"},
		"status below 300":               {func(c c) { c.Errors.NotProcessed = []int{429, 299} }, "errors.notProcessed[1]", "is not an HTTP status from 300 to 599"},
		"status above 599":               {func(c c) { c.Errors.NotProcessed = []int{600} }, "errors.notProcessed[0]", "is not an HTTP status from 300 to 599"},
		"path of an SMS":                 {func(c c) { c.SMSSend.Path = "sms/send" }, "sms.send.path", "must begin with a single /, without scheme and host"},
		"path of the list":               {func(c c) { c.SMSList.Path = "" }, "sms.list.path", "must begin with a single /, without scheme and host"},
		"path of chat app 1":             {func(c c) { c.ChatApp1Send.Path = "" }, "chatapp1.send.path", "must begin with a single /, without scheme and host"},
		"path of chat app 2":             {func(c c) { c.ChatApp2Send.Path = "" }, "chatapp2.send.path", "must begin with a single /, without scheme and host"},
		"no encoding":                    {func(c c) { c.SMSSend.Encoding = "" }, "sms.send.encoding", "unknown value; known: form, json, query"},
		"unknown unit":                   {func(c c) { c.ChatApp2Send.TTL = "h" }, "chatapp2.send.ttl", "unknown value; known: m, ms, s"},
		"unknown time":                   {func(c c) { c.SMSList.Time = "iso" }, "sms.list.time", "unknown value; known: date, datetime, rfc3339, rfc3339ms, unix, unixms"},
		"unknown paging":                 {func(c c) { c.SMSList.Paging.By = "" }, "sms.list.paging.by", "unknown value; known: cursor, none, offset, page"},
		"name with a control character":  {func(c c) { c.SMSSend.Fields.To = "t\x00o" }, "sms.send.fields.to", "holds a control character"},
		"name that is not UTF-8":         {func(c c) { c.SMSSend.Fields.To = "\xff" }, "sms.send.fields.to", "is not valid UTF-8"},
		"name too long":                  {func(c c) { c.SMSSend.Fields.To = strings.Repeat("x", 257) }, "sms.send.fields.to", "is longer than 256 bytes"},
		"name with an empty part":        {func(c c) { c.SMSSend.Fields.To = "a..b" }, "sms.send.fields.to", "has an empty part between its dots"},
		"name that begins with a dot":    {func(c c) { c.SMSSend.Fields.To = ".a" }, "sms.send.fields.to", "has an empty part between its dots"},
		"two fields of one name":         {func(c c) { c.SMSSend.Fields.To = "from" }, "sms.send.fields.to", "has the same name as sms.send.fields.from"},
		"two fields of one name in form": {func(c c) { c.SMSSend.Encoding, c.SMSSend.Fields.To = "form", "from" }, "sms.send.fields.to", "has the same name as sms.send.fields.from"},
		"field within another": {
			func(c c) { c.SMSSend.Fields.From, c.SMSSend.Fields.To = "party", "party.to" },
			"sms.send.fields.to", "would stand within the value of sms.send.fields.from",
		},
		"field around another": {
			func(c c) { c.SMSSend.Fields.From, c.SMSSend.Fields.To = "a.b.c", "a" },
			"sms.send.fields.to", "would hold both a value of its own and sms.send.fields.from",
		},
		"constant of a field's name":  {func(c c) { c.SMSSend.Constants["to"] = "x" }, "sms.send.constants.to", "has the same name as sms.send.fields.to"},
		"constant within a field":     {func(c c) { c.SMSSend.Constants["to.kind"] = "x" }, "sms.send.constants.to.kind", "would stand within the value of sms.send.fields.to"},
		"constant without a name":     {func(c c) { c.SMSSend.Constants[""] = "x" }, `sms.send.constants.""`, "is empty"},
		"constant null":               {func(c c) { c.SMSSend.Constants["a"] = nil }, "sms.send.constants.a", "is null or cannot be written as JSON"},
		"constant that JSON has not":  {func(c c) { c.SMSSend.Constants["a"] = math.NaN() }, "sms.send.constants.a", "is null or cannot be written as JSON"},
		"with of a field's name":      {func(c c) { c.SMSSend.With["callback"]["text"] = 1 }, "sms.send.with.callback.text", "has the same name as sms.send.fields.text"},
		"with of a constant's name":   {func(c c) { c.SMSSend.Constants["dlrReport"] = 1 }, "sms.send.with.callback.dlrReport", "has the same name as sms.send.constants.dlrReport"},
		"with of another with's name": {func(c c) { c.SMSSend.With["to"] = map[string]any{"dlrReport": 1} }, "sms.send.with.to.dlrReport", "has the same name as sms.send.with.callback.dlrReport"},
		"with of no field": {
			func(c c) { c.ChatApp2Send.With["text"] = map[string]any{"a": 1} },
			"chatapp2.send.with.text", "unknown key; known here: callback, fallbackFrom, fallbackText, reference, ttl",
		},
		"with null":                  {func(c c) { c.SMSSend.With["to"] = map[string]any{"a": nil} }, "sms.send.with.to.a", "is null or cannot be written as JSON"},
		"key pair of a field's name": {func(c c) { c.ChatApp1Send.Fields.To = "apiKey" }, "chatapp1.send.fields.to", "has the same name as auth.keyPair.key"},
		"key pair of a field's name in the query of a send": {
			func(c c) {
				c.Auth.KeyPair.In, c.SMSSend.Encoding, c.SMSSend.Fields.To = contract.KeyPairInQuery, contract.EncodingQuery, "apiSecret"
			},
			"sms.send.fields.to", "has the same name as auth.keyPair.secret",
		},
		"wrap of a field's name":  {func(c c) { c.ChatApp2Send.Wrap = "ttl" }, "chatapp2.send.wrap", "has the same name as chatapp2.send.fields.ttl"},
		"wrap with an empty part": {func(c c) { c.ChatApp2Send.Wrap = "a." }, "chatapp2.send.wrap", "has an empty part between its dots"},
		"answer path":             {func(c c) { c.ChatApp1Send.Answer.ID = []string{"id", "a..b"} }, "chatapp1.send.answer.id[1]", "has an empty part between its dots"},
		"answer path's part":      {func(c c) { c.ChatApp1Send.Answer.Cost = []string{"data..cost"} }, "chatapp1.send.answer.cost[0]", "has an empty part between its dots"},
		"blank accepted":          {func(c c) { c.ChatApp2Send.Accepted = []string{""} }, "chatapp2.send.accepted[0]", "is empty"},

		"two parameters of one name":      {func(c c) { c.SMSList.Params.Offset = "pageNumber" }, "sms.list.params.page", "has the same name as sms.list.params.offset"},
		"constant of a parameter's name":  {func(c c) { c.SMSList.Constants["pageSize"] = 10 }, "sms.list.constants.pageSize", "has the same name as sms.list.params.pageSize"},
		"list constant null":              {func(c c) { c.SMSList.Constants["a"] = nil }, "sms.list.constants.a", "is null or cannot be written as JSON"},
		"key pair of a parameter's name":  {func(c c) { c.SMSList.Params.Status = "apiKey" }, "sms.list.params.status", "has the same name as auth.keyPair.key"},
		"key pair in the query of a list": {func(c c) { c.Auth.KeyPair.In, c.SMSList.Params.Status = "query", "apiKey" }, "sms.list.params.status", "has the same name as auth.keyPair.key"},
		"orders alike":                    {func(c c) { c.SMSList.Orders.Descending = "asc" }, "sms.list.orders.descending", "has the same value as sms.list.orders.ascending"},
		"first page below 0":              {func(c c) { c.SMSList.Paging.First = -1 }, "sms.list.paging.first", "is less than 0"},
		"no items":                        {func(c c) { c.SMSList.Items = nil }, "sms.list.items", "names no path; the answer itself is an empty path"},
		"items path":                      {func(c c) { c.SMSList.Items = []string{"", "a..b"} }, "sms.list.items[1]", "has an empty part between its dots"},
		"page path":                       {func(c c) { c.SMSList.Page.Total = []string{"", ".a"} }, "sms.list.page.total[1]", "has an empty part between its dots"},
		"page path's part":                {func(c c) { c.SMSList.Page.Total = []string{"a."} }, "sms.list.page.total[0]", "has an empty part between its dots"},
		"record path":                     {func(c c) { c.SMSList.Record.DeliveryStatus = []string{"a."} }, "sms.list.record.deliveryStatus[0]", "has an empty part between its dots"},

		"inbound SMS parameter":        {func(c c) { c.WebhookSMS.Params.Keyword = []string{""} }, "webhook.sms.params.keyword[0]", "is empty"},
		"inbound chat-app-1 parameter": {func(c c) { c.WebhookChatApp1.Params.MediaURL = []string{"a", ""} }, "webhook.chatapp1.params.mediaURL[1]", "is empty"},
		"inbound chat-app-2 parameter": {func(c c) { c.WebhookChatApp2.Params.JSON = []string{"\n"} }, "webhook.chatapp2.params.json[0]", "holds a control character"},
		"delivery parameter":           {func(c c) { c.WebhookDelivery.Params.Kind = []string{""} }, "webhook.delivery.params.kind[0]", "is empty"},
		"blank status":                 {func(c c) { c.WebhookDelivery.Statuses.Failed = []string{""} }, "webhook.delivery.statuses.failed[0]", "is empty"},
		"status of two meanings":       {func(c c) { c.WebhookDelivery.Statuses.Sent = []string{"QUEUED"} }, "webhook.delivery.statuses.sent[0]", "stands under webhook.delivery.statuses.queued too"},
		"placeholder":                  {func(c c) { c.WebhookDelivery.Placeholders.ID = "%\n" }, "webhook.delivery.placeholders.id", "holds a control character"},
		"zone of the list":             {func(c c) { c.SMSList.Zone = "Mars/Olympus" }, "sms.list.zone", zoneReason},
		"zone of inbound SMS":          {func(c c) { c.WebhookSMS.Zone = "../UTC" }, "webhook.sms.zone", zoneReason},
		"zone of inbound chat app 1":   {func(c c) { c.WebhookChatApp1.Zone = "x" }, "webhook.chatapp1.zone", zoneReason},
		"zone of inbound chat app 2":   {func(c c) { c.WebhookChatApp2.Zone = "x" }, "webhook.chatapp2.zone", zoneReason},
		"zone of delivery":             {func(c c) { c.WebhookDelivery.Zone = "x" }, "webhook.delivery.zone", zoneReason},
	} {
		t.Run(name, func(t *testing.T) {
			c := contract.Default()
			tt.change(&c)
			assert.Equal(t, []contract.Error{{Path: tt.path, Reason: tt.reason}}, listed(t, c.Validate()))
		})
	}
}

const zoneReason = "is not a time zone that this machine knows, such as Europe/London or UTC"

func TestContractThatCanWorkPasses(t *testing.T) {
	type c = *contract.Contract
	for name, change := range map[string]func(c){
		"a bare token":                           func(c c) { c.Auth.Token = contract.Token{Header: "X-Api-Token"} },
		"basic without names":                    func(c c) { c.Auth.KeyPair = contract.KeyPair{In: contract.KeyPairInBasic} },
		"key pair in headers":                    func(c c) { c.Auth.KeyPair = contract.KeyPair{In: "header", Key: "X-Key", Secret: "X-Secret"} },
		"names of a key pair that is elsewhere":  func(c c) { c.Auth.KeyPair.In, c.SMSSend.Fields.To = "header", "apiKey" },
		"key pair in the query, body of a send":  func(c c) { c.Auth.KeyPair.In, c.SMSSend.Fields.To = "query", "apiKey" },
		"fields side by side in an object":       func(c c) { c.SMSSend.Fields.From, c.SMSSend.Fields.To = "party.from", "party.to" },
		"fields of which one name begins others": func(c c) { c.SMSSend.Fields.From, c.SMSSend.Fields.To = "to", "top.to" },
		"constants beside a field in an object":  func(c c) { c.SMSSend.Fields.From, c.SMSSend.Constants["sender.kind"] = "sender.id", 1 },
		"dots that do not nest in a form": func(c c) {
			c.SMSSend.Encoding, c.SMSSend.Fields.From, c.SMSSend.Fields.To = "form", "to.from", "to"
		},
		"dots that do not nest in a query":            func(c c) { c.SMSList.Params.From, c.SMSList.Params.To = "to.", "to" },
		"brackets":                                    func(c c) { c.SMSSend.Fields.From = "message[from]" },
		"no optional fields":                          func(c c) { c.SMSSend.Fields.Callback, c.SMSSend.Fields.Reference = "", "" },
		"name at its longest":                         func(c c) { c.SMSSend.Fields.From = strings.Repeat("x", 256) },
		"the same name in two operations":             func(c c) { c.ChatApp1Send.Fields.Channel = c.SMSSend.Fields.From },
		"no maps":                                     func(c c) { c.SMSSend.Constants, c.SMSSend.With, c.SMSList.Constants = nil, nil, nil },
		"constants of Go types":                       func(c c) { c.SMSSend.Constants = map[string]any{"a": 1, "b": []string{"x"}, "c": json.Number("1")} },
		"a wrap":                                      func(c c) { c.ChatApp2Send.Wrap = "message.payload" },
		"a class for all codes":                       func(c c) { c.Errors.Classes.Invalid = []string{"*"} },
		"a code and its beginning":                    func(c c) { c.Errors.Classes.NotFound = []string{"200199"} },
		"a code twice in one class":                   func(c c) { c.Errors.Classes.NotFound = []string{"1", "1"} },
		"codes that differ in case":                   func(c c) { c.Errors.Classes.NotFound, c.Errors.Classes.Invalid = []string{"e1"}, []string{"E1"} },
		"statuses at the bounds":                      func(c c) { c.Errors.NotProcessed = []int{300, 599} },
		"nothing may be repeated":                     func(c c) { c.Errors.NotProcessed = nil },
		"facts that no answer holds":                  func(c c) { c.SMSSend.Answer, c.SMSList.Page = contract.Answer{}, contract.Page{} },
		"a bare array":                                func(c c) { c.SMSList.Items = []string{""} },
		"orders alike without their name":             func(c c) { c.SMSList.Params.Order, c.SMSList.Orders = "", contract.Orders{} },
		"a paging whose parameter is yet to be named": func(c c) { c.SMSList.Paging.By = "cursor" },
		"offset":       func(c c) { c.SMSList.Paging.By, c.SMSList.Params.Offset, c.SMSList.Params.Page = "offset", "start", "" },
		"cursor":       func(c c) { c.SMSList.Paging.By, c.SMSList.Params.Cursor, c.SMSList.Params.Page = "cursor", "after", "" },
		"one page":     func(c c) { c.SMSList.Paging.By, c.SMSList.Params.Page = "none", "" },
		"first page 0": func(c c) { c.SMSList.Paging.First = 0 },
		"no zone":      func(c c) { c.SMSList.Zone = "" },
		"a zone":       func(c c) { c.WebhookDelivery.Zone = "Asia/Manila" },
		"dots in what is no path": func(c c) {
			dots := []string{"a..b"}
			c.Errors.Classes.Invalid, c.SMSSend.Accepted = dots, dots
			c.WebhookSMS.Params.ID, c.WebhookChatApp1.Params.ID, c.WebhookChatApp2.Params.ID, c.WebhookDelivery.Params.ID = dots, dots, dots, dots
			c.WebhookDelivery.Statuses.Failed, c.WebhookDelivery.Placeholders.ID = dots, "{{..id}}"
		},
		"no placeholders":                func(c c) { c.WebhookDelivery.Placeholders = contract.Placeholders{} },
		"parameters shared by two facts": func(c c) { c.WebhookSMS.Params.Keyword = c.WebhookSMS.Params.Text },
	} {
		t.Run(name, func(t *testing.T) {
			c := contract.Default()
			change(&c)
			assert.NoError(t, c.Validate())
		})
	}
}

func TestEveryDocumentedChoicePasses(t *testing.T) {
	type c = *contract.Contract
	var changes []func(c)
	for _, value := range []contract.Encoding{contract.EncodingJSON, contract.EncodingForm, contract.EncodingQuery} {
		changes = append(changes, func(c c) { c.SMSSend.Encoding = value })
	}
	for _, value := range []contract.TTLUnit{contract.TTLSeconds, contract.TTLMilliseconds, contract.TTLMinutes} {
		changes = append(changes, func(c c) { c.ChatApp1Send.TTL = value })
	}
	for _, value := range []contract.KeyPairPlace{contract.KeyPairInBody, contract.KeyPairInQuery, contract.KeyPairInHeader, contract.KeyPairInBasic} {
		changes = append(changes, func(c c) { c.Auth.KeyPair.In = value })
	}
	for _, value := range []contract.PagingKind{contract.PagingByPage, contract.PagingByOffset, contract.PagingByCursor, contract.PagingNone} {
		changes = append(changes, func(c c) {
			c.SMSList.Paging.By, c.SMSList.Params.Offset, c.SMSList.Params.Cursor = value, "start", "after"
		})
	}
	for _, value := range []contract.TimeForm{
		contract.TimeRFC3339Milli, contract.TimeRFC3339, contract.TimeUnix, contract.TimeUnixMilli, contract.TimeDateTime, contract.TimeDate,
	} {
		changes = append(changes, func(c c) { c.SMSList.Time = value })
	}
	for i, change := range changes {
		c := contract.Default()
		change(&c)
		assert.NoError(t, c.Validate(), i)
	}
}

func TestPathMustStayOnTheHost(t *testing.T) {
	for path, reason := range map[string]string{
		"":                      "must begin with a single /, without scheme and host",
		"send":                  "must begin with a single /, without scheme and host",
		"https://example.com/x": "must begin with a single /, without scheme and host",
		"//example.com/x":       "must begin with a single /, and hold no backslash: it could be taken for a host",
		"/%2Fexample.com/x":     "must begin with a single /, and hold no backslash: it could be taken for a host",
		`/\example.com/x`:       "must begin with a single /, and hold no backslash: it could be taken for a host",
		"/%5Cexample.com/x":     "must begin with a single /, and hold no backslash: it could be taken for a host",
		"/send?x=1":             "must have no query and no fragment; constants hold what goes with every request",
		"/send#x":               "must have no query and no fragment; constants hold what goes with every request",
		"/a b":                  "holds a space or a control character",
		"/a\u00a0b":             "holds a space or a control character",
		"/a\r\nb":               "holds a space or a control character",
		"/a\x7f":                "holds a space or a control character",
		"/a%0ab":                "holds an escaped control character",
		"/a%zz":                 "holds a % that begins no escape",
		"/\xff":                 "is not valid UTF-8",
		"/..":                   "holds a . or .. segment",
		"/a/../b":               "holds a . or .. segment",
		"/a/%2E%2e/b":           "holds a . or .. segment",
		"/a%2f..%2fb":           "holds a . or .. segment",
		"/a/./b":                "holds a . or .. segment",
	} {
		c := contract.Default()
		c.SMSSend.Path = path
		assert.Equal(t, []contract.Error{{Path: "sms.send.path", Reason: reason}}, listed(t, c.Validate()), "%q", path)
	}
	for _, path := range []string{"/", "/a", "/v1/a/b/", "/a//b", "/a%20b", "/a..b/...", "/a:b@c", "/ä"} {
		c := contract.Default()
		c.SMSSend.Path = path
		assert.NoError(t, c.Validate(), "%q", path)
	}
}

func TestHeadersThatTheClientWritesHoldNoCredentials(t *testing.T) {
	for _, header := range []string{
		"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host", "Keep-Alive",
		"Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "X-Idempotency-Key",
	} {
		c := contract.Default()
		c.Auth.Token.Header = header
		assert.Len(t, listed(t, c.Validate()), 1, header)
	}
}

func TestValidateReportsAllProblems(t *testing.T) {
	c := contract.Default()
	c.SMSSend.Path = ""
	c.SMSList.Path = ""
	c.WebhookSMS.Zone = "x"
	assert.Len(t, listed(t, c.Validate()), 3)
	assert.NotEmpty(t, listed(t, contract.Contract{}.Validate()))
}

func TestValidateChangesNothing(t *testing.T) {
	c := contract.Default()
	_ = c.Validate()
	assert.Equal(t, contract.Default(), c)
}
