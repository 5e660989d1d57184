package contract_test

import (
	"encoding/json"
	"fmt"

	"github.com/messaging-service/messaging-go/contract"
)

// An overlay names what differs from the default.
func ExampleParse() {
	names, err := contract.Parse([]byte(`{
		"sms.send": {"fields": {"from": "sender.id", "text": "message"}, "constants": {"app": "billing"}},
		"sms.list": {"items": ["rows"], "time": "unix", "params": {"offset": "start"}, "paging": {"by": "offset"}}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = names // messaging.WithContract(names), webhook.WithContract(names)
	fmt.Println("the overlay is valid")
	// Output: the overlay is valid
}

// A typing error is found, and all problems are reported at once.
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

// A contract marshals to its complete table.
func ExampleContract_MarshalJSON() {
	names, err := contract.Parse([]byte(`{"sms.send": {"fields": {"from": "sender.id"}, "with": {"callback": {}}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(names)
	if err != nil {
		fmt.Println(err)
		return
	}
	var table map[string]struct{ Fields, With json.RawMessage }
	_ = json.Unmarshal(text, &table)
	fmt.Printf("%s\n%s\n", table["sms.send"].Fields, table["sms.send"].With)
	// Output:
	// {"callback":"dlrCallback","from":"sender.id","reference":"referenceId","text":"text","to":"to"}
	// {"callback":{}}
}
