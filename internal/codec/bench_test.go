package codec_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

const acceptedResponse = `{"status":"ok","data":{"id":"0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111","requestId":"r-77","messageParts":"1","unitCost":"0.50","transactionCost":"0.50","remaining":"199.50","operatorCode":"OP_1"}}`

// benchmarkPage is a page of 1,000 rows, as a service might write them: a second name for the ID, quoted numbers, a member that
// the contract does not know.
func benchmarkPage() []byte {
	var b strings.Builder
	b.WriteString(`{"status":true,"totalRows":2000,"totalPages":2,"pageNumber":1,"pageSize":1000,"hasNext":true,"data":[`)
	for n := range 1000 {
		if n > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0%04d","requestId":"req-%d","referenceId":"order-%d","from":"ACME","to":"+63917%07d","text":"Your order %d is ready, please come by","messageParts":"1","price":"0.50","dateCreated":"2026-10-03T14:44:23.186Z","dateSent":"2026-10-03T14:44:24.002Z","sendStatus":1,"dlrStatus":"1","operator":"OP_1","country":"PHL","description":"delivered","userdata1":"u-%d"}`, n, n, n, n, n, n)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkEncode(b *testing.B) {
	for name, overlay := range map[string]string{
		"default": `{}`, "form": `{"sms.send":{"encoding":"form"}}`,
		"nested": `{"sms.send":{"fields":{"from":"sender.id","to":"recipient.number"},"constants":{"sender.kind":"x"}}}`,
	} {
		t := parse(b, overlay)
		send := codec.CompileSend(t, &t.SMSSend, sendURL, nil)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, problems := send.Encode(complete().call(), false); problems != nil {
					b.Fatal(problems)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	t := parse(b, "")
	send := codec.CompileSend(t, &t.SMSSend, sendURL, nil)
	b.ReportAllocs()
	for b.Loop() {
		if r, err := send.Decode([]byte(acceptedResponse)); err != nil || r.Claim != codec.Accepts {
			b.Fatal(r, err)
		}
	}
}

// A contract with many paths costs no more memory than the default.
func BenchmarkDecodeLongOverlay(b *testing.B) {
	t := parse(b, `{"errors": {"code": ["code", "error.code", "fault.code", "result.code", "errors.0.code", "meta.error.code", "response.error.code"]},
		"sms.send": {"response": {"id": ["data.id", "data.message.id", "result.message.id", "response.message.id", "messages.0.id"]}}}`)
	send := codec.CompileSend(t, &t.SMSSend, sendURL, nil)
	b.ReportAllocs()
	for b.Loop() {
		if r, err := send.Decode([]byte(acceptedResponse)); err != nil || r.Claim != codec.Accepts {
			b.Fatal(r, err)
		}
	}
}

func BenchmarkDecodePage(b *testing.B) {
	t := parse(b, "")
	base, _ := url.Parse("https://api.example.com/api/sms")
	list := codec.CompileList(t, base, nil)
	page := benchmarkPage()
	b.ReportAllocs()
	var reuse []sms.Transaction
	for b.Loop() {
		p, _, err := list.Decode(page, wire.Position{}, 1000, reuse)
		if err != nil || len(p.Unreadable) > 0 {
			b.Fatal(p.Unreadable, err)
		}
		reuse = p.Transactions
	}
}

func BenchmarkCompile(b *testing.B) {
	t := parse(b, "")
	base, _ := url.Parse("https://api.example.com/api/sms")
	b.ReportAllocs()
	for b.Loop() {
		codec.CompileSend(t, &t.SMSSend, sendURL, nil)
		codec.CompileSend(t, &t.ChatApp1Send, sendURL, nil)
		codec.CompileSend(t, &t.ChatApp2Send, sendURL, nil)
		codec.CompileList(t, base, nil)
	}
}

func BenchmarkCheckNames(b *testing.B) {
	t := parse(b, `{"sms.send": {"fields": {"from": "messages.0.from", "to": "messages.0.to.0", "text": "messages.0.text"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		codec.CheckNames(t)
	}
}
