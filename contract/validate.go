package contract

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Validate returns nil if c can be used, else an error that joins an [*Error] for each problem. [Parse] calls it, and so does
// the client for a contract that was changed in Go. What is checked stands in the package comment. Time zones are looked up
// on the machine that runs, which may know none but UTC unless the program imports time/tzdata.
func (c Contract) Validate() error {
	var found problems
	c.validate(&found)
	return found.err()
}

func (c Contract) validate(found *problems) {
	checkChoices(found, "", reflect.ValueOf(c))
	c.Auth.validate(found)
	c.Errors.validate(found)
	c.SMSSend.validate(found, "sms.send", c.Auth.KeyPair, c.SMSSend.Fields, "")
	c.ChatApp1Send.validate(found, "chatapp1.send", c.Auth.KeyPair, c.ChatApp1Send.Fields, "")
	c.ChatApp2Send.validate(found, "chatapp2.send", c.Auth.KeyPair, c.ChatApp2Send.Fields, c.ChatApp2Send.Wrap)
	c.SMSList.validate(found, c.Auth.KeyPair)
	checkLists(found, "webhook.sms.params", c.WebhookSMS.Params)
	checkZone(found, "webhook.sms.zone", c.WebhookSMS.Zone)
	checkLists(found, "webhook.chatapp1.params", c.WebhookChatApp1.Params)
	checkZone(found, "webhook.chatapp1.zone", c.WebhookChatApp1.Zone)
	checkLists(found, "webhook.chatapp2.params", c.WebhookChatApp2.Params)
	checkZone(found, "webhook.chatapp2.zone", c.WebhookChatApp2.Zone)
	c.WebhookDelivery.validate(found)
}

// choice is a string of which only some values are known.
type choice interface{ known() []string }

// checkChoices looks for them in the whole contract, so that none can be forgotten here.
func checkChoices(found *problems, path string, v reflect.Value) {
	if v.Kind() == reflect.Struct {
		fields := fieldsOf(v)
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			checkChoices(found, join(path, key), fields[key])
		}
		return
	}
	if known, ok := reflect.TypeAssert[choice](v); ok && !slices.Contains(known.known(), v.String()) {
		found.add(path, "unknown value; known: "+strings.Join(known.known(), ", "))
	}
}

// checkNames checks the names of a request's parameters, of which an empty one is absent, and takes them.
func checkNames(found *problems, path string, params any, taken *names) {
	for key, name := range fields[string](params) {
		if name != "" {
			found.addFault(join(path, key), taken.claim(join(path, key), name))
		}
	}
}

// checkConstants checks what a request holds beside its parameters, and takes the names.
func checkConstants(found *problems, path string, constants map[string]any, taken *names) {
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		found.addFault(join(path, name), taken.claim(join(path, name), name))
		// Only a contract changed in Go can hold what JSON cannot.
		if text, err := json.Marshal(constants[name]); err != nil || string(text) == "null" {
			found.add(join(path, name), "is null or cannot be written as JSON")
		}
	}
}

// checkLists checks each list of structure, as checkList does.
func checkLists(found *problems, path string, structure any) {
	for key, list := range fields[[]string](structure) {
		checkList(found, join(path, key), list)
	}
}

// checkPaths checks each list of paths into an answer, in which "" is the document itself.
func checkPaths(found *problems, path string, structure any) {
	for key, list := range fields[[]string](structure) {
		checkPath(found, join(path, key), list)
	}
}

func checkPath(found *problems, path string, list []string) {
	for i, name := range list {
		if name != "" {
			found.addFault(at(path, i), nameFault(name, true))
		}
	}
}

func checkList(found *problems, path string, list []string) {
	for i, name := range list {
		found.addFault(at(path, i), nameFault(name, false))
	}
}

// checkOnlyOnce refuses a text that stands in two lists of structure, for it would mean two things. Two texts are one if normal
// makes them equal.
func checkOnlyOnce(found *problems, path string, structure any, normal func(string) string) {
	seen := map[string]string{}
	for key, list := range fields[[]string](structure) {
		for i, text := range list {
			if other, ok := seen[normal(text)]; ok && other != key {
				found.add(at(join(path, key), i), "stands under "+join(path, other)+" too")
			}
			seen[normal(text)] = key
		}
	}
}

func checkZone(found *problems, path, zone string) {
	if _, err := time.LoadLocation(zone); err != nil {
		found.add(path, "is not a time zone that this machine knows, such as Europe/London or UTC")
	}
}
