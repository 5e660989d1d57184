package doctor

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

type object = map[string]any

// cursorFake pages by cursor, filters by the names of its members, nests its bodies, and has numbers for statuses.
func cursorFake() *fake {
	status := map[string]int{"A": 2, "B": 5, "C": 7}
	return &fake{
		truth: `{
			"errors": {"message": ["error.description"]},
			"sms.send": {
				"fields": {"from": "message.source", "to": "message.destination", "text": "message.content", "reference": "message.client_ref"},
				"response": {"id": ["result.uid"], "request": ["result.batch_no"], "reference": ["result.client_ref"], "status": ["result.code"], "parts": ["result.segments"]},
				"accepted": ["ok", "true", "accepted", "success", "queued", "sent", "0"]
			},
			"sms.list": {
				"items": ["payload.entries"],
				"record": {
					"id": ["uid"], "request": ["batch_no"], "reference": ["client_ref"], "from": ["source"], "to": ["destination"], "text": ["content"],
					"parts": ["segments"], "price": ["charge.amount"], "currency": ["charge.currency_code"], "created": ["submitted_at"],
					"sent": ["dispatched_at"], "deliveryStatus": ["dlr_state"]
				},
				"params": {
					"id": "uid", "reference": "client_ref", "request": "batch_no", "from": "source", "to": "destination", "pageSize": "limit", "cursor": "after",
					"createdAfter": "submitted_at_from", "createdBefore": "submitted_at_to"
				},
				"paging": {"by": "cursor"}, "page": {"next": ["payload.next_token"], "total": ["payload.total_count"]}, "time": "unix"
			}
		}`,
		row: func(m fakeMessage) any {
			return object{
				"uid": m.id, "batch_no": m.batch, "client_ref": m.ref, "source": m.from, "destination": m.to, "content": m.text, "segments": m.parts,
				"charge": object{"amount": "0.45", "currency_code": "PHP"}, "submitted_at": m.created.Unix(), "dispatched_at": m.sent.Unix(),
				"dlr_state": status[m.state], "account_sid": "AC12345", "updated_at": m.sent.Add(time.Second).Unix(),
			}
		},
		page: func(rows []any, p fakePage) any {
			payload := object{"entries": rows, "total_count": p.total}
			if p.next != "" {
				payload["next_token"] = p.next
			}
			return object{"payload": payload, "took_ms": 3}
		},
		filters: map[string]func(fakeMessage, string) bool{
			"uid": equals(func(m fakeMessage) string { return m.id }), "client_ref": equals(func(m fakeMessage) string { return m.ref }),
			"batch_no": equals(func(m fakeMessage) string { return m.batch }), "source": equals(func(m fakeMessage) string { return m.from }),
			"destination":       equals(func(m fakeMessage) string { return m.to }),
			"submitted_at_from": func(m fakeMessage, v string) bool { n, _ := strconv.ParseInt(v, 10, 64); return m.created.Unix() >= n },
			"submitted_at_to": func(m fakeMessage, v string) bool {
				n, err := strconv.ParseInt(v, 10, 64)
				return err != nil || m.created.Unix() <= n
			},
		},
		size: "limit", cursor: "after", defaultSize: 20,
		read: func(w http.ResponseWriter, r *http.Request) (m fakeMessage, ok bool) {
			doc := parseBody(r)
			for _, name := range []string{"source", "destination", "content"} {
				if doc.At("message."+name).Text() == "" {
					writeJSON(w, http.StatusBadRequest, object{"error": object{"code": "VALIDATION", "description": "message." + name + " is required"}})
					return m, false
				}
			}
			for name := range doc.Object() {
				if name != "message" {
					writeJSON(w, http.StatusBadRequest, object{"error": object{"code": "VALIDATION", "description": "unknown field " + name}})
					return m, false
				}
			}
			for name := range doc.At("message").Object() {
				if !slices.Contains([]string{"source", "destination", "content", "client_ref"}, name) {
					writeJSON(w, http.StatusBadRequest, object{"error": object{"code": "VALIDATION", "description": "unknown field message." + name}})
					return m, false
				}
			}
			at := func(name string) string { return doc.At("message." + name).Text() }
			return fakeMessage{from: at("source"), to: at("destination"), text: at("content"), ref: at("client_ref")}, true
		},
		respond: func(w http.ResponseWriter, m fakeMessage) {
			writeJSON(w, http.StatusCreated, object{"result": object{"uid": m.id, "batch_no": m.batch, "client_ref": m.ref, "code": 0, "segments": 1}})
		},
	}
}

func parseBody(r *http.Request) document.Node {
	var b [1 << 14]byte
	n, _ := r.Body.Read(b[:])
	return document.Parse(b[:n])
}

// offsetFake pages by offset, takes forms, and refuses every parameter that it does not know without saying what it knows.
func offsetFake() *fake {
	return &fake{
		truth: `{
			"sms.send": {
				"encoding": "form",
				"fields": {"from": "senderName", "to": "msisdn", "text": "body", "reference": "externalId"},
				"response": {"id": ["messages.0.msgId"], "reference": ["messages.0.externalId"], "status": ["messages.0.state"], "cost": ["messages.0.fee"]},
				"accepted": ["ok", "true", "accepted", "success", "queued", "sent", "SCHEDULED"]
			},
			"sms.list": {
				"items": ["rows"],
				"record": {
					"id": ["msgId"], "request": ["bulkId"], "reference": ["externalId"], "from": ["senderName"], "to": ["msisdn"], "text": ["body"],
					"parts": ["smsCount"], "price": ["fee"], "created": ["createTime"], "sent": ["sendTime"], "deliveryStatus": ["state"],
					"operator": ["networkName"], "country": ["countryIso"], "description": ["stateReason"]
				},
				"params": {
					"id": "msgId", "reference": "externalId", "to": "msisdn", "from": "senderName", "pageSize": "max", "offset": "skip",
					"createdAfter": "dateFrom", "createdBefore": "dateTo", "sortBy": "orderBy", "order": "direction"
				},
				"sorts": {"created": "createTime"}, "orders": {"ascending": "asc", "descending": "desc"},
				"paging": {"by": "offset"}, "page": {"total": ["found"]}, "time": "datetime"
			}
		}`,
		row: func(m fakeMessage) any {
			return object{
				"msgId": m.n + 7_000_001, "bulkId": m.batch, "externalId": m.ref, "senderName": m.from, "msisdn": "+" + m.to, "body": m.text,
				"smsCount": m.parts, "fee": "0.0120", "createTime": m.created.UTC().Format(time.DateTime), "sendTime": m.sent.UTC().Format(time.DateTime),
				"state": map[string]string{"A": "DELIVERED", "B": "PENDING", "C": "EXPIRED"}[m.state], "networkName": "Globe", "countryIso": "PH",
				"stateReason": "No error " + m.state, "campaignId": m.n % 4,
			}
		},
		page: func(rows []any, p fakePage) any { return object{"rows": rows, "found": p.total, "version": "2.1"} },
		filters: map[string]func(fakeMessage, string) bool{
			"msgId": equals(func(m fakeMessage) string { return strconv.Itoa(m.n + 7_000_001) }), "externalId": equals(func(m fakeMessage) string { return m.ref }),
			"msisdn": equals(func(m fakeMessage) string { return "+" + m.to }), "senderName": equals(func(m fakeMessage) string { return m.from }),
			"dateFrom": func(m fakeMessage, v string) bool { return m.created.UTC().Format(time.DateTime) >= v },
			"dateTo":   func(m fakeMessage, v string) bool { return m.created.UTC().Format(time.DateTime) <= v },
		},
		size: "max", offset: "skip", defaultSize: 25, isStrict: true, others: []string{"orderBy", "direction"},
		sort: func(q url.Values, rows []fakeMessage) {
			if q.Get("orderBy") == "createTime" {
				slices.SortStableFunc(rows, func(a, b fakeMessage) int {
					if q.Get("direction") == "desc" {
						return b.created.Compare(a.created)
					}
					return a.created.Compare(b.created)
				})
			}
		},
		refuses: func(w http.ResponseWriter, unknown string, known []string) {
			writeJSON(w, http.StatusBadRequest, object{"errorCode": "BAD_PARAM", "errorMessage": "unknown parameter " + unknown + ", expected one of: " + strings.Join(known, ", ")})
		},
		read: func(w http.ResponseWriter, r *http.Request) (m fakeMessage, ok bool) {
			if r.ParseForm() != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
				writeJSON(w, http.StatusUnsupportedMediaType, object{"errorCode": "MEDIA", "errorMessage": "want a form"})
				return m, false
			}
			var missing []object
			for _, name := range []string{"senderName", "msisdn", "body"} {
				if r.PostForm.Get(name) == "" {
					missing = append(missing, object{"field": name, "issue": "missing"})
				}
			}
			for _, name := range sortedKeys(r.PostForm) {
				if !slices.Contains([]string{"senderName", "msisdn", "body", "externalId"}, name) {
					missing = append(missing, object{"field": name, "issue": "unknown field"})
				}
			}
			if missing != nil {
				writeJSON(w, http.StatusUnprocessableEntity, object{"errorCode": "INVALID", "violations": missing})
				return m, false
			}
			return fakeMessage{from: r.PostForm.Get("senderName"), to: r.PostForm.Get("msisdn")[1:], text: r.PostForm.Get("body"), ref: r.PostForm.Get("externalId")}, true
		},
		respond: func(w http.ResponseWriter, m fakeMessage) {
			writeJSON(w, http.StatusOK, object{"messages": []object{{"msgId": m.n + 7_000_001, "externalId": m.ref, "state": "SCHEDULED", "fee": "0.0120"}}})
		},
	}
}

// numberFake pages by number from 0, ignores what it does not know, nests its rows, and has members that mislead.
func numberFake() *fake {
	return &fake{
		truth: `{
			"sms.send": {
				"fields": {"from": "originator", "to": "recipients.0", "text": "content", "reference": "custom_id"},
				"response": {"id": ["data.sms.sid"], "status": ["data.sms.status.name"], "reference": ["data.sms.custom_id"]},
				"accepted": ["ok", "true", "accepted", "success", "queued", "sent", "ENROUTE"]
			},
			"sms.list": {
				"items": ["data.list"],
				"record": {
					"id": ["sms.sid"], "reference": ["sms.custom_id"], "from": ["sms.originator"], "to": ["sms.recipient"], "text": ["sms.content"],
					"parts": ["billing.num_parts"], "price": ["billing.cost"], "currency": ["billing.currency"], "created": ["times.created"], "sent": ["times.sent"],
					"deliveryStatus": ["status.name"], "description": ["status.description"]
				},
				"params": {"id": "filter[sid]", "reference": "filter[custom_id]", "to": "filter[recipient]", "from": "filter[originator]", "pageSize": "per_page", "page": "page", "createdAfter": "since", "createdBefore": "until"},
				"paging": {"first": 0}, "page": {"total": ["meta.total"], "pages": ["meta.last_page"], "number": ["meta.current_page"], "size": ["meta.per_page"]},
				"layouts": ["02.01.2006 15:04:05"]
			}
		}`,
		row: func(m fakeMessage) any {
			return object{
				"sms":     object{"sid": "SM" + m.id[:8], "custom_id": m.ref, "originator": m.from, "recipient": m.to, "content": m.text, "messageRef": m.n % 5},
				"billing": object{"num_parts": m.parts, "cost": 0.05, "currency": "EUR", "plan": "basic"},
				"times":   object{"created": m.created.UTC().Format("02.01.2006 15:04:05"), "sent": m.sent.UTC().Format("02.01.2006 15:04:05")},
				"status":  object{"id": 3, "name": map[string]string{"A": "DELIVERED", "B": "FAILED", "C": "EXPIRED"}[m.state], "description": "As " + m.state + " says"},
				"id":      m.n % 10,
			}
		},
		page: func(rows []any, p fakePage) any {
			return object{"data": object{"list": rows}, "meta": object{"total": p.total, "last_page": (p.total + p.size - 1) / p.size, "current_page": p.number, "per_page": p.size}}
		},
		filters: map[string]func(fakeMessage, string) bool{
			"filter[sid]": equals(func(m fakeMessage) string { return "SM" + m.id[:8] }), "filter[custom_id]": equals(func(m fakeMessage) string { return m.ref }),
			"filter[recipient]": equals(func(m fakeMessage) string { return m.to }), "filter[originator]": equals(func(m fakeMessage) string { return m.from }),
			"since": func(m fakeMessage, v string) bool {
				at, err := time.Parse(time.RFC3339, v)
				return err != nil || !m.created.Before(at)
			},
			"until": func(m fakeMessage, v string) bool {
				at, err := time.Parse(time.RFC3339, v)
				return err != nil || m.created.Before(at)
			},
		},
		size: "per_page", number: "page", firstPage: 0, defaultSize: 15, ascending: true,
		read: func(w http.ResponseWriter, r *http.Request) (m fakeMessage, ok bool) {
			doc := parseBody(r)
			refuse := func(text string) (fakeMessage, bool) {
				writeJSON(w, http.StatusBadRequest, object{"message": text, "statusCode": 400})
				return m, false
			}
			switch {
			case doc.At("originator").Text() == "":
				return refuse(`"originator" is missing`)
			case !doc.At("recipients").Exists():
				return refuse(`"recipients" is missing`)
			case !doc.At("recipients").IsList():
				return refuse(`"recipients" must be an array`)
			case doc.At("content").Text() == "":
				return refuse(`"content" is missing`)
			}
			for _, name := range sortedKeys(doc.Object()) {
				if !slices.Contains([]string{"originator", "recipients", "content", "custom_id"}, name) {
					return refuse(`"` + name + `" is not allowed`)
				}
			}
			return fakeMessage{from: doc.At("originator").Text(), to: doc.At("recipients.0").Text()[1:], text: doc.At("content").Text(), ref: doc.At("custom_id").Text()}, true
		},
		respond: func(w http.ResponseWriter, m fakeMessage) {
			writeJSON(w, http.StatusOK, object{"data": object{"sms": object{"sid": "SM" + m.id[:8], "custom_id": m.ref, "status": object{"id": 1, "name": "ENROUTE"}}}})
		},
	}
}

// TestServicesThatWereNotSeen holds the doctor against services in shapes of their own: it finds most of what is renamed, proposes nothing
// wrong, and its overlay lists every row.
func TestServicesThatWereNotSeen(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]func() *fake{"cursor": cursorFake, "offset": offsetFake, "number": numberFake} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := hold(t, service())
			assert.Equal(t, statusDiffers, report.Status)
			assert.Contains(t, report.Summary.Works, "list")
			assert.Contains(t, report.Summary.Works, "send")
			assert.Contains(t, report.Summary.Works, "settle")
		})
	}
}
