package contract_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// A construct is an account that uses one construct of the grammar, as a client and a receiver meet it.
type construct struct {
	overlay   string
	text      string      // of the message; by default all of it is GSM 7
	request   string      // what a send writes: path, query, body
	responses [][3]string // to a send: status, body, the outcome
	list      sms.ListOptions
	pages     [][2]string // of the listing: the query and the body that ask for it, the body of the response
	rows      []string    // and the error, if the listing ends with one
	callbacks [][3]string // path and query, body, the events, a line each; GET without a body
}

var constructs = map[string]construct{
	"a form": {
		overlay: `{
			"auth": {"keyPair": {"key": "user", "secret": "password"}},
			"sms.send": {
				"path": "/v1/sms.do", "encoding": "form", "constants": {"coding": 8},
				"fields": {"from": "sender.id", "text": "message", "callback": "report[url]", "reference": ""}, "with": {"callback": {"report[level]": 3}}
			}
		}`,
		request: "/v1/sms.do sender.id=ACME&to=%2B639171234567&message=100%25+sure%3F&report%5Burl%5D=https%3A%2F%2Fexample.com%2Fdlr" +
			"&report%5Blevel%5D=3&coding=8&user=k-1&password=s-1",
		responses: [][3]string{{"200", `{"id":"m-1"}`, "accepted m-1"}},
	},
	"one object for each part": {
		overlay: `{"sms.send": {
			"fields": {"from": "sender.id", "to": "recipients.0.number", "text": "content.text", "callback": "report.url", "reference": "report.tags.0"},
			"constants": {"content.type": "text"}, "with": {"callback": {"report.default": false}}
		}}`,
		request: `/sms/send {"sender":{"id":"ACME"},"recipients":[{"number":"+639171234567"}],"content":{"text":"100% sure?","type":"text"},` +
			`"report":{"url":"https://example.com/dlr","default":false,"tags":["order-17"]}}`,
		responses: [][3]string{{"200", `{"id":"m-1"}`, "accepted m-1"}},
	},
	"a key without a secret": {
		overlay: `{
			"auth": {"keyPair": {"in": "query", "key": "api_key", "secret": ""}}, "sms.send": {"fields": {"callback": "", "reference": ""}},
			"sms.list": {"params": {"id": "message_id", "page": "", "pageSize": ""}, "paging": {"by": "none", "whole": true}}
		}`,
		request:   `/sms/send?api_key=k-1 {"from":"ACME","to":"+639171234567","text":"100% sure?"}`,
		responses: [][3]string{{"200", `{"id":"m-1"}`, "accepted m-1"}},
		list:      sms.ListOptions{ID: "m-1"},
		pages:     [][2]string{{"api_key=k-1&message_id=m-1", `{"data":[{"id":"m-1"}]}`}},
		rows:      []string{"m-1"},
	},
	"a list of messages in a response": {
		overlay: `{
			"sms.send": {
				"response": {"id": ["messages.0.id"], "reference": ["messages.0.ref"], "parts": ["messages.0.parts"], "status": ["messages.0.accepted"]},
				"accepted": ["true"], "refused": ["false"]
			},
			"errors": {"code": ["messages.0.error.code", "error.code"], "message": ["messages.0.error.text", "error.text"], "classes": {"invalid": ["21"]}}
		}`,
		request: complete,
		responses: [][3]string{
			{"202", `{"messages":[{"id":421332671,"ref":"order-17","parts":2,"accepted":true,"error":null}],"error":null}`, "accepted 421332671 2 parts"},
			{"207", `{"messages":[{"id":"","ref":"order-17","accepted":false,"error":{"code":21,"text":"no number"}}],"error":null}`, "refused invalid 21 no number"},
			{"400", `{"messages":[],"error":{"code":17,"text":"no body"}}`, "refused invalid 17 no body"},
		},
	},
	"a response that is a list": {
		overlay: `{
			"sms.send": {"response": {"id": ["0.id", "0.uuid.0"], "request": ["0.batch.id"], "status": ["0.status.type"]}, "accepted": ["SENT"], "refused": ["FAILED"]},
			"sms.list": {"items": [""], "params": {"page": "", "pageSize": "", "order": "sortOrder"}, "orders": {"descending": "DOWN"}, "paging": {"by": "none", "whole": true},
				"record": {"deliveryStatus": ["status.type"]}}
		}`,
		request: complete,
		responses: [][3]string{
			{"201", `[{"id":"m-1","batch":{"id":"b-1"},"status":{"type":"SENT","subtype":null}}]`, "accepted m-1 b-1"},
			{"201", `[{"uuid":["m-2"],"status":{"type":"SENT"}}]`, "accepted m-2"},
			{"201", `[{"id":"m-1","status":{"type":"FAILED"}}]`, "refused FAILED"},
		},
		list:  sms.ListOptions{Descending: true, Extra: url.Values{"filter": {"ref==order-17"}}},
		pages: [][2]string{{"filter=ref%3D%3Dorder-17&sortOrder=DOWN", `[{"id":"m-1","status":{"type":"DELIVERED"}},{"id":"m-2"}]`}},
		rows:  []string{"m-1 delivered", "m-2"},
	},
	"an outcome told by a number": {
		overlay: `{
			"errors": {"code": ["messages.0.status"], "message": ["messages.0.error-text"], "success": ["0"], "classes": {"rateLimited": ["1"], "unauthorized": ["4"]}},
			"sms.send": {"response": {"id": ["messages.0.id"], "balance": ["messages.0.left"], "operator": ["messages.0.network"], "status": ["messages.0.status"]},
				"accepted": ["0"]}
		}`,
		request: complete,
		responses: [][3]string{
			{"200", `{"messages":[{"status":"0","id":"m-1","left":"3.14","network":51502}]}`, "accepted m-1 3.14 51502"},
			{"200", `{"messages":[{"status":"4","error-text":"bad key"}]}`, "refused unauthorized 4 bad key"},
			{"200", `{"messages":[{"status":1,"error-text":"too fast"}]}`, "refused rateLimited 1 too fast"},
		},
	},
	"words by their beginning": {
		overlay: `{
			"sms.send": {"response": {"status": ["status.name"]}, "accepted": ["PENDING_*", "https://*"], "refused": ["REJECTED_*"]},
			"errors": {"classes": {"insufficientBalance": ["REJECTED_NO_CREDIT"], "invalid": ["21*"], "notFound": ["2104"]}},
			"webhook.delivery": {"statuses": {"delivered": ["DELIVERED_*"], "failed": ["DELIVERED_LATE", "NO_*"]}}
		}`,
		request: complete,
		responses: [][3]string{
			{"200", `{"id":"m-1","status":{"name":"PENDING_ACCEPTED"}}`, "accepted m-1"},
			{"200", `{"id":"m-1","status":{"name":"https://api.example.com/m-1"}}`, "accepted m-1"},
			{"200", `{"id":"m-1","status":{"name":"REJECTED_NO_CREDIT"}}`, "refused insufficientBalance REJECTED_NO_CREDIT"},
			{"400", `{"code":21211}`, "refused invalid 21211"},
			{"400", `{"code":2104}`, "refused notFound 2104"},
		},
		callbacks: [][3]string{
			{"/delivery?transactionId=m-1&status=DELIVERED_TO_HANDSET", "", "m-1 delivered"},
			{"/delivery?transactionId=m-1&status=DELIVERED_LATE", "", "m-1 failed"},
		},
	},
	"the reference as the ID": {
		overlay: `{
			"sms.send": {"fields": {"reference": "messageId"}, "response": {"id": ["messageId"], "reference": ["messageId"]}},
			"sms.list": {"params": {"id": "", "reference": "messageId"}, "record": {"id": ["messageId"], "reference": ["messageId"]}},
			"webhook.delivery": {"params": {"id": ["messageId"], "reference": ["messageId"]}}
		}`,
		request: `/sms/send {"from":"ACME","to":"+639171234567","text":"100% sure?","dlrCallback":"https://example.com/dlr","dlrReport":1,"messageId":"order-17"}`,
		responses: [][3]string{
			{"200", `{"messageId":"order-17"}`, "accepted order-17"},
			{"200", `{"messageId":"order-18"}`, "unknown"},
		},
		list:      sms.ListOptions{ReferenceID: "order-17"},
		pages:     [][2]string{{"messageId=order-17&pageNumber=1", `{"hasNext":false,"data":[{"messageId":"order-17"}]}`}},
		rows:      []string{"order-17 order-17"},
		callbacks: [][3]string{{"/delivery?messageId=order-17&status=read", "", "order-17 order-17 read"}},
	},
	"a text in place of JSON": {
		overlay: `{
			"sms.send": {"response": {"id": [], "status": [""]}, "accepted": ["Request is received*"]},
			"errors": {"code": ["", "code"], "message": ["", "text"], "classes": {"insufficientBalance": ["Not enough*"]}}
		}`,
		request: complete,
		responses: [][3]string{
			{"200", "Request is received", "accepted"},
			{"403", "Not enough credits", "refused insufficientBalance Not enough credits Not enough credits"},
			{"400", `{"code":102,"text":"no number"}`, "refused invalid 102 no number"},
			{"200", "<html>", "unknown <html>"},
		},
	},
	"errors under the names of fields": {
		overlay: `{
			"errors": {
				"code": ["errors.to.0", "errors.0.code"], "message": ["errors.to.0", "errors.0.title"], "request": ["trace"],
				"classes": {"invalid": ["The *"], "rateLimited": ["100"]}
			}
		}`,
		request: complete,
		responses: [][3]string{
			{"200", `{"id":"m-1","errors":[]}`, "accepted m-1"},
			{"400", `{"errors":{"to":["The number is wrong"]}}`, "refused invalid The number is wrong The number is wrong"},
			{"429", `{"trace":"t-9","errors":[{"code":"100","title":"Too many requests"}]}`, "refused rateLimited 100 Too many requests t-9"},
		},
	},
	"an offset": {
		overlay: `{"sms.list": {
			"path": "/v2/detail", "constants": {"direction": "mt"}, "paging": {"by": "offset"}, "items": ["list.objects"],
			"params": {"createdAfter": "start", "offset": "offset", "pageSize": "limit", "status": "state"}, "time": "datetime", "zone": "Asia/Manila", "page": {"total": ["list.count"]},
			"record": {"to": ["recipients.0.number"], "deliveryStatus": ["recipients.0.state"], "created": ["date"]}, "layouts": ["02/01/2006 15:04", "2006-01-02 15:04:05 -0700"]
		}}`,
		list: sms.ListOptions{PageSize: 1, Status: "any", CreatedAfter: noon},
		pages: [][2]string{
			{"direction=mt&limit=1&offset=0&start=2026-10-03+19%3A59%3A59&state=any", `{"list":{"count":2,"objects":[{"id":"m-2","date":"03/10/2026 22:44","recipients":[{"number":639171234567,"state":"read"}]}]}}`},
			{"direction=mt&limit=1&offset=1&start=2026-10-03+19%3A59%3A59&state=any", `{"list":{"count":2,"objects":[{"id":"m-1","date":"2026-10-03 22:44:23 +0800"}]}}`},
		},
		rows: []string{"m-2 639171234567 read 2026-10-03T14:44:00Z", "m-1 2026-10-03T14:44:23Z"},
	},
	"days as bounds": {
		overlay: `{"sms.list": {
			"params": {"createdAfter": "from_day"}, "time": "date", "zone": "Asia/Manila", "paging": {"first": 0}
		}}`,
		list: sms.ListOptions{PageSize: 1, CreatedAfter: time.Date(2026, 10, 2, 16, 0, 0, 0, time.UTC)},
		pages: [][2]string{
			{"from_day=2026-10-02&pageNumber=0&pageSize=1", `{"data":[{"id":"m-1"}]}`},
			{"from_day=2026-10-02&pageNumber=1&pageSize=1", `{"data":[]}`},
		},
		rows: []string{"m-1"},
	},
	"a cursor": {
		overlay: `{"sms.list": {"path": "/a1/sms", "params": {"cursor": "start", "createdAfter": "since"}, "time": "unix", "paging": {"by": "cursor"}, "page": {"next": ["page.token", "page.link"]}}}`,
		list:    sms.ListOptions{PageSize: 1, CreatedAfter: noon},
		pages: [][2]string{
			{"pageSize=1&since=1791028799", `{"page":{"token":"2026-10-03T15:44:23.1"},"data":[{"id":"m-3","dateCreated":"1791042263"}]}`},
			{"pageSize=1&since=1791028799&start=2026-10-03T15%3A44%3A23.1", `{"page":{"link":"/a1/sms?page=2&start=m-2"},"data":[{"id":"m-2","dateCreated":"Sat, 03 Oct 2026 14:44:23 +0000"}]}`},
			{"page=2&start=m-2", `{"page":{"link":null},"data":[{"id":"m-1","dateCreated":1791038663000}]}`},
		},
		rows: []string{"m-3 2026-10-03T15:44:23Z", "m-2 2026-10-03T14:44:23Z", "m-1 2026-10-03T14:44:23Z"},
	},
	"a callback that is a list": {
		overlay: `{
			"webhook.sms": {"events": [""], "params": {"id": ["message.id"], "from": ["message.from"], "to": ["to"], "text": ["message.text"], "time": ["message.time"]}},
			"webhook.delivery": {"events": [""], "params": {"id": ["message.id"], "reference": ["message.tag"], "status": ["type"], "to": ["to"]},
				"statuses": {"delivered": ["message-delivered"], "failed": ["message-failed"]}}
		}`,
		callbacks: [][3]string{
			{"/sms", `[{"to":"2929","message":{"id":"in-1","from":639171234567,"time":"2026-10-03T14:44:22.000Z","text":"Oo"}}]`, "in-1 639171234567 2929 Oo 2026-10-03T14:44:22Z"},
			{
				"/delivery", `[{"type":"message-delivered","to":"1111","message":{"id":"m-1","tag":"order-17"}},{"type":"message-failed","to":"2222","message":{"id":"m-2"}}]`,
				"m-1 order-17 1111 delivered\nm-2 2222 failed",
			},
		},
	},
	"an envelope around the events": {
		overlay: `{
			"webhook.sms": {"events": ["data.list"], "params": {"id": ["id"], "from": ["from.number"], "to": ["to.0.number"], "text": ["contents.0.text"], "time": ["at"]}},
			"webhook.delivery": {"events": ["data"], "params": {"id": ["payload.id"], "reference": ["payload.tags.0"], "status": ["payload.state.code"], "time": ["at"]}}
		}`,
		callbacks: [][3]string{
			{
				"/sms", `{"id":"e-1","data":{"list":[{"id":null,"from":{"number":"tel:+639171234567"},"to":[{"number":"2929"}],"contents":[{"text":"Oo"}],"at":1791038663000}]}}`,
				"+639171234567 2929 Oo 2026-10-03T14:44:23Z",
			},
			{"/delivery", `{"data":{"id":"e-2","at":1791038665,"payload":{"id":"m-1","tags":["order-17"],"state":{"code":"delivered"}}}}`, "m-1 order-17 delivered 2026-10-03T14:44:25Z"},
		},
	},
	"states as numbers and letters": {
		overlay: `{
			"sms.list": {"record": {"deliveryStatus": ["state"]}},
			"webhook.delivery": {
				"params": {"id": ["msgid"], "status": ["state"], "time": ["donedate"]}, "layouts": ["0601021504"],
				"statuses": {"queued": ["q"], "sent": ["300"], "delivered": ["201", "d"], "read": [], "failed": ["301"], "expired": [], "rejected": ["DND Active"]}
			}
		}`,
		pages: [][2]string{{"pageNumber=1", `{"data":[{"id":"m-1","state":201},{"id":"m-2","state":"Q"},{"id":"m-3","state":"DND Active"},{"id":"m-4","state":"odd"}],"hasNext":false}`}},
		rows:  []string{"m-1 delivered", "m-2 queued", "m-3 rejected", "m-4"},
		callbacks: [][3]string{
			{"/delivery?msgid=m-1&state=300&donedate=2610031444", "", "m-1 sent 2026-10-03T14:44:00Z"},
			{"/delivery", "msgid=m-1&state=d", "m-1 delivered"},
			{"/delivery", `{"msgid":"m-1","state":301}`, "m-1 failed"},
		},
	},
}

// newConstructs are those that later accounts asked for.
var newConstructs = map[string]construct{
	"constants by the encoding of a text in GSM 7": {
		overlay:   `{"sms.send": {"constants": {"app": 1}, "with": {"gsm": {"type": "text", "flash": 0}, "unicode": {"type": "unicode"}, "callback": {}}}}`,
		request:   `/sms/send {"from":"ACME","to":"+639171234567","text":"100% sure?","dlrCallback":"https://example.com/dlr","referenceId":"order-17","app":1,"flash":0,"type":"text"}`,
		responses: [][3]string{{"200", `{"id":"m-1"}`, "accepted m-1"}},
	},
	"constants by the encoding of a text in Unicode": {
		overlay:   `{"sms.send": {"encoding": "form", "with": {"gsm": {"type": "text", "flash": 0}, "unicode": {"type": "unicode"}, "callback": {}}}}`,
		text:      "Да?",
		request:   "/sms/send from=ACME&to=%2B639171234567&text=%D0%94%D0%B0%3F&dlrCallback=https%3A%2F%2Fexample.com%2Fdlr&referenceId=order-17&type=unicode",
		responses: [][3]string{{"200", `{"id":"m-1"}`, "accepted m-1"}},
	},
	"every element of a list": {
		overlay: `{
			"sms.send": {"response": {"id": ["messages.0.id"], "status": ["messages.*.parts.*.status"]}, "accepted": ["ok"], "refused": ["no*"]},
			"errors": {"code": ["messages.0.code"], "classes": {"invalid": ["21"]}}
		}`,
		request: complete,
		responses: [][3]string{
			{"200", `{"messages":[{"id":"m-1","parts":[{"status":"ok"}]}]}`, "accepted m-1"},
			{"200", `{"messages":[{"id":"m-1","parts":[{"status":"ok"},{"status":"OK"}]},{"id":"m-2","parts":[{"status":"ok"}]}]}`, "accepted m-1"},
			{"200", `{"messages":[{"id":"m-1","parts":[{"status":"no"},{"status":"no_route"}]},{"parts":[{"status":"no"}]}]}`, "refused no"},
			{"400", `{"messages":[{"code":21},{"code":21}]}`, "refused invalid 21"},
			{"200", `{"messages":[{"id":"m-1","parts":[{"status":"ok"}]},{"id":"m-2","parts":[{"status":"ok"},{"status":"no"}]}]}`, "unknown"},
			{"200", `{"messages":[{"id":"m-1","parts":[{"status":"ok"}]},{"id":"m-2","parts":[{"status":"odd"}]}]}`, "unknown"},
			{"200", `{"messages":[{"id":"m-1","parts":[{"status":"ok"}]},{"id":"m-2"}]}`, "unknown"},
			{"400", `{"messages":[{"code":21},{"id":"m-2","parts":[{"status":"ok"}]}]}`, "unknown invalid 21"},
			{"200", `{"messages":[]}`, "unknown"},
		},
	},
	"a position in a list of several": {
		overlay: `{"sms.send": {"response": {"status": ["messages.0.status"]}, "accepted": ["ok"], "refused": ["no"]}}`,
		request: complete,
		responses: [][3]string{
			{"200", `{"id":"m-1","messages":[{"status":"ok"}]}`, "accepted m-1"},
			{"200", `{"id":"m-1","messages":[{"status":"no"}]}`, "refused no"},
			{"200", `{"id":"m-1","messages":[{"status":"ok"},{"status":"ok"}]}`, "accepted m-1"},
			{"200", `{"id":"m-1","messages":[{"status":"ok"},{"status":"no"}]}`, "unknown"},
			{"200", `{"id":"m-1","messages":[{"status":"no"},{"status":"no"}]}`, "unknown no"},
			{"400", `{"id":"m-1","messages":[{"status":"no"},{"status":"ok"}]}`, "unknown invalid no"},
		},
	},
	"rows of other listings": {
		overlay: `{"sms.list": {"only": {"meta.direction": ["outbound*", "mt"]}, "paging": {"by": "offset"}, "params": {"offset": "start"}, "page": {"total": ["count"]}}}`,
		pages: [][2]string{
			{"start=0", `{"count":5,"data":[{"id":"m-1","meta":{"direction":"Outbound-API"}},{"meta":{"direction":"inbound"}}]}`},
			{"start=2", `{"count":5,"data":[{"id":"in-2","meta":{"direction":"inbound"}}]}`},
			{"start=3", `{"count":5,"data":[{"id":"m-2"},{"id":"m-3","meta":{"direction":"MT"}}]}`},
		},
		rows: []string{"m-1", "m-2", "m-3"},
	},
	"one page of so many rows": {
		overlay: `{"sms.list": {"paging": {"by": "none", "most": 2}}}`,
		pages:   [][2]string{{"", `{"data":[{"id":"m-1"},{"id":"m-2"}]}`}},
		rows: []string{
			"m-1", "m-2",
			"messaging: sms.list failed: the page has as many rows as it can hold, and there is no next one to ask for (sms.list.paging)",
		},
	},
	"one page that is not full": {
		overlay: `{"sms.list": {"paging": {"by": "none", "most": 2}}}`,
		pages:   [][2]string{{"", `{"data":[{"id":"m-1"}]}`}},
		rows:    []string{"m-1"},
	},
	"one page that was asked for with a size": {
		overlay: `{"sms.list": {"paging": {"by": "none", "whole": true}}}`,
		list:    sms.ListOptions{PageSize: 1},
		pages:   [][2]string{{"pageSize=1", `{"data":[{"id":"m-1"}]}`}},
		rows: []string{
			"m-1", "messaging: sms.list failed: the page has as many rows as it can hold, and there is no next one to ask for (sms.list.paging)",
		},
	},
	"what a webhook is answered with": {
		overlay: `{"webhook.sms": {"reply": {"type": "text/xml; charset=utf-8", "body": "<Response/>"}}, "webhook.delivery": {"reply": {"body": "OK"}}}`,
		callbacks: [][3]string{
			{"/sms?id=in-1&from=1111&to=2929&message=Oo", "", "in-1 1111 2929 Oo"},
			{"/delivery?transactionId=m-1&status=1", "", "m-1 delivered"},
		},
	},
	"variables in paths": {
		overlay:   `{"sms.send": {"path": "/v1/{account}/messages.json"}, "sms.list": {"path": "/v1/{account}/{region}", "paging": {"by": "cursor"}, "params": {"cursor": "after"}}}`,
		request:   "/v1/account%20%2F%C3%A9/messages.json " + strings.TrimPrefix(complete, "/sms/send "),
		responses: [][3]string{{"200", `{"id":"m-1"}`, "accepted m-1"}},
		pages: [][2]string{
			{"", `{"data":[{"id":"m-1"}],"nextPage":"/v1/account%20%2F%C3%A9/region%20%2F%C3%A9/more?after=2"}`},
			{"after=2", `{"data":[{"id":"m-2"}],"nextPage":null}`},
		},
		rows: []string{"m-1", "m-2"},
	},
}

// complete is the request of a message in the default contract.
const complete = `/sms/send {"from":"ACME","to":"+639171234567","text":"100% sure?","dlrCallback":"https://example.com/dlr","dlrReport":1,"referenceId":"order-17"}`

var noon = time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC)

// TestConstructs lets a client and a receiver speak with an account for each construct.
func TestConstructs(t *testing.T) {
	t.Parallel()
	all := maps.Clone(constructs)
	maps.Copy(all, newConstructs)
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names, err := contract.Parse([]byte(c.overlay))
			require.NoError(t, err)
			c.send(t, names)
			c.read(t, names)
			c.receive(t, names)
		})
	}
}

// newClient returns a client that has its responses from roundTrip.
func newClient(t *testing.T, names contract.Contract, roundTrip httpmock.Responder) *messaging.Client {
	t.Helper()
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(roundTrip)
	credentials := messaging.WithToken("t-1")
	if table.Of(names).Auth.KeyPair.Key != table.Of(contract.Default()).Auth.KeyPair.Key {
		secret := "s-1"
		if table.Of(names).Auth.KeyPair.Secret == "" {
			secret = ""
		}
		credentials = messaging.WithAPIKey("k-1", secret)
	}
	options := []messaging.Option{
		credentials, messaging.WithContract(names), messaging.WithHTTPClient(&http.Client{Transport: mock}),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
	}
	for _, name := range table.Of(names).Variables() {
		options = append(options, messaging.WithVariable(name, name+" /é"))
	}
	client, err := messaging.NewClient("https://api.example.com", options...)
	require.NoError(t, err)
	return client
}

func (c construct) send(t *testing.T, names contract.Contract) {
	t.Helper()
	m := sms.Message{From: "ACME", To: "+639171234567", Text: cmp.Or(c.text, "100% sure?"), CallbackURL: "https://example.com/dlr", ReferenceID: "order-17"}
	if table.Of(names).SMSSend.Fields["callback"] == "" {
		m.CallbackURL = ""
	}
	if table.Of(names).SMSSend.Fields["reference"] == "" {
		m.ReferenceID = ""
	}
	for _, response := range c.responses {
		status, err := strconv.Atoi(response[0])
		require.NoError(t, err)
		client := newClient(t, names, func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			assert.Equal(t, c.request, r.URL.RequestURI()+" "+string(body))
			return httpmock.NewStringResponse(status, response[1]), nil
		})
		receipt, err := client.SMS.Send(t.Context(), m)
		assert.Equal(t, response[2], outcome(receipt, err), response[1])
	}
}

// outcome returns what a receipt or an error says, without what is empty.
func outcome(r messaging.Receipt, err error) string {
	if err == nil {
		parts := ""
		if r.Parts > 0 {
			parts = strconv.Itoa(r.Parts) + " parts"
		}
		return line("accepted", r.ID, r.RequestID, parts, r.Cost, r.Currency, r.Balance, r.Operator)
	}
	class := ""
	for name, sentinel := range map[string]error{
		"unauthorized": messaging.ErrUnauthorized, "rateLimited": messaging.ErrRateLimited, "insufficientBalance": messaging.ErrInsufficientBalance,
		"duplicate": messaging.ErrDuplicate, "windowClosed": messaging.ErrWindowClosed, "optedOut": messaging.ErrOptedOut, "unreachable": messaging.ErrUnreachable, "notFound": messaging.ErrNotFound, "unavailable": messaging.ErrUnavailable, "invalid": messaging.ErrInvalid,
	} {
		if errors.Is(err, sentinel) {
			class = name
		}
	}
	var failure *messaging.Error
	if !errors.As(err, &failure) {
		return err.Error()
	}
	message := failure.Message
	if strings.HasPrefix(message, "{") { // the service said nothing that an error takes from it
		message = ""
	}
	return line(failure.Verdict.String(), class, failure.Code, message, failure.RequestID)
}

func (c construct) read(t *testing.T, names contract.Contract) {
	t.Helper()
	if c.pages == nil {
		return
	}
	var queries, wanted, rows []string
	client := newClient(t, names, func(r *http.Request) (*http.Response, error) {
		query := r.URL.RawQuery
		if r.Body != nil {
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			query = line(query, string(body))
		}
		queries = append(queries, query)
		if len(queries) > len(c.pages) {
			return nil, errors.New("a request too many")
		}
		return httpmock.NewStringResponse(http.StatusOK, c.pages[len(queries)-1][1]), nil
	})
	for tx, err := range client.SMS.List(t.Context(), c.list) {
		if err != nil {
			rows = append(rows, err.Error())
			break
		}
		rows = append(rows, line(tx.ID, tx.ReferenceID, tx.From, tx.To, string(tx.Status), tx.Price, tx.Currency, at(tx.CreatedAt)))
	}
	for _, page := range c.pages {
		wanted = append(wanted, page[0])
	}
	assert.Equal(t, wanted, queries)
	assert.Equal(t, c.rows, rows)
}

func (c construct) receive(t *testing.T, names contract.Contract) {
	t.Helper()
	receiver, err := webhook.NewReceiver(webhook.WithContract(names), webhook.WithPOST(), webhook.WithoutProof())
	require.NoError(t, err)
	for _, callback := range c.callbacks {
		var got []string
		mux := http.NewServeMux()
		mux.Handle("/sms", receiver.SMS(func(_ context.Context, m webhook.SMSMessage) error {
			assert.False(t, m.Ambiguous)
			got = append(got, line(m.ID, m.From, m.To, m.Text, at(m.ReceivedAt)))
			return nil
		}))
		mux.Handle("/delivery", receiver.Delivery(func(_ context.Context, d webhook.DeliveryReport) error {
			assert.False(t, d.Ambiguous)
			got = append(got, line(d.ID, d.ReferenceID, d.To, string(d.Status), at(d.StatusAt)))
			return nil
		}))
		target, body := callback[0], callback[1]
		r := httptest.NewRequest(http.MethodGet, target, nil)
		if body != "" {
			r = httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if strings.ContainsAny(body[:1], "[{") {
				r.Header.Set("Content-Type", "application/json")
			}
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		assert.Equal(t, http.StatusOK, w.Code)
		reply := table.Of(names).Webhooks()[strings.Trim(strings.Split(target, "?")[0], "/")].Reply
		if assert.Equal(t, reply.Body, w.Body.String()); reply.Body != "" {
			assert.Equal(t, reply.Type, w.Header().Get("Content-Type"))
		}
		assert.Equal(t, callback[2], strings.Join(got, "\n"), callback[1])
	}
}

// line joins the fields that are not empty.
func line(fields ...string) string {
	return strings.Join(strings.FieldsFunc(strings.Join(fields, "\x00"), func(r rune) bool { return r == 0 }), " ")
}

func at(when time.Time) string {
	if when.IsZero() {
		return ""
	}
	return when.UTC().Format(time.RFC3339)
}
