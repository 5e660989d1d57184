package contract_test

import (
	"fmt"

	"github.com/messaging-service/messaging-go/contract"
)

// An overlay names what differs from the default.
func ExampleParse() {
	wire, err := contract.Parse([]byte(`{
		"sms.send": {"fields": {"from": "sender.id", "text": "message"}, "constants": {"app": "billing"}},
		"sms.list": {"items": ["rows"], "time": "unix", "params": {"offset": "start"}, "paging": {"by": "offset"}}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(wire.SMSSend.Fields.From, wire.SMSSend.Fields.To, wire.SMSSend.Constants["app"])
	fmt.Println(wire.SMSList.Items, wire.SMSList.Time, wire.SMSList.Paging.By)
	// Output:
	// sender.id to billing
	// [rows] unix offset
}

// A typing error does not pass unseen, and all problems are told at once.
func ExampleParse_problems() {
	_, err := contract.Parse([]byte(`{
		"sms.send": {"fields": {"sneder": "from"}, "encoding": "xml"},
		"sms.list": {"items": "rows"}
	}`))
	fmt.Println(err)
	// Output:
	// contract: sms.list.items: is a string, want a list
	// contract: sms.send.fields.sneder: unknown key; known here: callback, from, reference, text, to
	// contract: sms.send.encoding: unknown value; known: form, json, query
}

// What goes with a callback by default is dropped by an empty entry.
func ExampleParse_with() {
	wire, err := contract.Parse([]byte(`{"sms.send": {"with": {"callback": {}}}}`))
	fmt.Println(contract.Default().SMSSend.With, wire.SMSSend.With, err)
	// Output:
	// map[callback:map[dlrReport:1]] map[callback:map[]] <nil>
}

// A contract is plain data and can be changed in Go.
func ExampleDefault() {
	wire := contract.Default()
	wire.SMSSend.Fields.From = "sender.id"
	wire.SMSSend.Encoding = contract.EncodingForm
	wire.SMSList.Items = []string{"rows"}
	fmt.Println(wire.Validate())

	wire.SMSSend.Fields.To = "sender.id"
	fmt.Println(wire.Validate())
	// Output:
	// <nil>
	// contract: sms.send.fields.to: has the same name as sms.send.fields.from
}
