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
		"sms.send": {"encoding": "xml"},
		"sms.list": {"items": "rows", "orders": {"down": "DESC"}}
	}`))
	fmt.Println(err)
	// Output:
	// contract: sms.list.items: is a string; write a list, such as ["data"]
	// contract: sms.list.orders.down: unknown key; known here: ascending, descending (what no key says: docs/contract.md)
	// contract: sms.send.encoding: unknown value; known: form, json, query
}

// A contract marshals to its complete table.
func ExampleContract_MarshalJSON() {
	names, err := contract.Parse([]byte(`{"sms.list": {"orders": {"descending": "down"}, "paging": {"by": "offset"}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(names)
	if err != nil {
		fmt.Println(err)
		return
	}
	var table map[string]struct{ Orders, Paging json.RawMessage }
	_ = json.Unmarshal(text, &table)
	fmt.Printf("%s\n%s\n", table["sms.list"].Orders, table["sms.list"].Paging)
	// Output:
	// {"ascending":"asc","descending":"down"}
	// {"by":"offset","first":1,"most":0,"whole":false}
}
