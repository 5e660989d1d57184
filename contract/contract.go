package contract

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"strings"
)

// table is the default contract, complete.
//
//go:embed default.json
var table string

// Contract holds every wire name that the client and the webhooks use, and the few rules that go with the names.
// Start from [Default] or [Parse]: in the zero Contract every name is absent, and [Contract.Validate] refuses it.
//
// The specification gives the four paths, the name ttl, the Authorization header and GET as the method of the
// callbacks. Everything else in the default contract is a default: change what your account's documentation says
// otherwise.
//
// A Contract is plain data. Copying it copies the struct but shares its lists and maps; [Contract.Clone] shares
// nothing. It may be read from many goroutines at once as long as none of them changes it.
// It is configuration and may be printed or logged as such, so keep credentials out of it.
type Contract struct {
	// Auth says where credentials stand in a request.
	Auth Auth `json:"auth"`
	// Errors says how an answer tells that a request failed.
	Errors Errors `json:"errors"`
	// SMSSend is the operation that sends an SMS.
	SMSSend SMSSend `json:"sms.send"`
	// SMSList is the operation that reads SMS transactions back.
	SMSList SMSList `json:"sms.list"`
	// ChatApp1Send is the operation that sends a message over chat app 1.
	ChatApp1Send ChatApp1Send `json:"chatapp1.send"`
	// ChatApp2Send is the operation that sends a message over chat app 2.
	ChatApp2Send ChatApp2Send `json:"chatapp2.send"`
	// WebhookSMS describes the callback that brings an inbound SMS.
	WebhookSMS WebhookSMS `json:"webhook.sms"`
	// WebhookChatApp1 describes the callback that brings an inbound chat-app-1 message.
	WebhookChatApp1 WebhookChatApp `json:"webhook.chatapp1"`
	// WebhookChatApp2 describes the callback that brings an inbound chat-app-2 message.
	WebhookChatApp2 WebhookChatApp `json:"webhook.chatapp2"`
	// WebhookDelivery describes the callback that reports a delivery.
	WebhookDelivery WebhookDelivery `json:"webhook.delivery"`
}

// Default returns the default contract, a fresh copy at each call. Marshalling it with encoding/json gives the complete
// table of names, and with it every key that an overlay may hold.
func Default() Contract {
	var c Contract
	decoder := json.NewDecoder(strings.NewReader(table))
	decoder.UseNumber() // as in an overlay
	if err := decoder.Decode(&c); err != nil {
		panic("contract: the embedded table: " + err.Error()) // a fault of this package alone; its tests read the table
	}
	return c
}

// Clone returns a copy that shares no list and no map with c, those within constants included.
func (c Contract) Clone() Contract {
	return clone(reflect.ValueOf(c)).Interface().(Contract)
}

func clone(v reflect.Value) reflect.Value {
	result := reflect.New(v.Type()).Elem()
	result.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := result.Field(i); field.CanSet() { // a constant set in Go may be a struct with unexported fields
				field.Set(clone(v.Field(i)))
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			result.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				result.Index(i).Set(clone(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			result.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for key, value := range v.Seq2() {
				result.SetMapIndex(key, clone(value))
			}
		}
	case reflect.Interface:
		if !v.IsNil() {
			result.Set(clone(v.Elem()))
		}
	}
	return result
}
