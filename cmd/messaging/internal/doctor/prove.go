package doctor

import (
	"maps"
	"slices"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// own returns the messages whose row was seen.
func (d *doctor) own() []*message {
	return slices.DeleteFunc(slices.Clone(d.sent), func(m *message) bool { return len(m.rows) == 0 })
}

// sightings returns the rows of messages, as often as they were seen, each with a value of its message.
func sightings(own []*message, value func(m *message) string) (all []pair) {
	for _, m := range own {
		for _, row := range m.rows {
			all = append(all, pair{row, value(m)})
		}
	}
	return all
}

// proveSent finds the members of rows and responses that brought back what was sent, and the IDs that both have.
func (d *doctor) proveSent() {
	own := d.own()
	var responses []pair
	for _, m := range own {
		responses = append(responses, pair{m.response, m.values["reference"]})
	}
	d.setProof(partResponse, d.table.SMSSend.Response, "reference", only(responses))
	for _, concept := range []string{"reference", "text", "to"} {
		path := only(sightings(own, func(m *message) string { return m.values[concept] }))
		d.setProof(partRecord, d.table.SMSList.Record, concept, path)
	}
	if len(own) >= enough {
		d.proveIDs(own)
	}
}

// setProof keeps where a concept was proven to stand. Where the contract reads the ID of a message, its reference is not proven: the
// service may take it for the ID, and both then have the same list.
func (d *doctor) setProof(part string, section map[string][]string, concept, path string) {
	isID := concept == "reference" && slices.Contains(section["id"], path) && !slices.Contains(section["reference"], path)
	if path != "" && !isID {
		d.proofs[part][concept] = path
	}
}

// link is where a response and a row have the same ID.
type link struct{ response, row string }

// links returns where the responses and the rows of all messages have an ID: a value that was not sent, that differs from message to
// message, that exactly one member of its row has whenever the row is seen, and that no other row has there.
func (d *doctor) links(own []*message) (found []link) {
	for _, c := range columnsOf([]document.Node{own[0].response}, "") {
		id := func(m *message) string { return m.response.At(c.path).Text() }
		values := map[string]bool{}
		for _, m := range own {
			if value := id(m); isToken(value) {
				values[value] = true
			}
		}
		at, shared := only(sightings(own, id)), 0
		for _, row := range d.rows {
			if values[row.At(at).Text()] {
				shared++
			}
		}
		isSent := slices.Contains(slices.Collect(maps.Values(d.proofs[partRecord])), at)
		if at != "" && !isSent && len(values) == len(own) && shared <= len(own) {
			found = append(found, link{c.path, at})
		}
	}
	return found
}

// proveIDs finds the members that have the ID of a message and that of its request. Where the contract reads one of them in the response,
// it says which is which. One that it does not read has to be the only one, and no other member may look like an ID. None is proven if the
// contract reads another in the row.
func (d *doctor) proveIDs(own []*message) {
	id, _ := find([]document.Node{own[0].response}, d.table.SMSSend.Response["id"])
	request, _ := find([]document.Node{own[0].response}, d.table.SMSSend.Response["request"])
	found, open := map[string]link{}, []link(nil)
	for _, l := range d.links(own) {
		switch l.response {
		case id:
			found["id"] = l
		case request:
			found["request"] = l
		default:
			open = append(open, l)
		}
	}
	rivals := slices.DeleteFunc(fitting("id", columnsOf(d.rows, "")), func(path string) bool {
		return path == found["request"].row || slices.Contains(slices.Collect(maps.Values(d.proofs[partRecord])), path)
	})
	if len(open) == 1 && id == "" && len(rivals) == 1 {
		found["id"] = open[0]
	}
	for concept, l := range found {
		at, _ := find(own[0].rows, d.table.SMSList.Record[concept])
		if (at == "" || at == l.row) && (len(found) == 1 || found["id"].row != found["request"].row) {
			d.setProof(partRecord, d.table.SMSList.Record, concept, l.row)
			d.setProof(partResponse, d.table.SMSSend.Response, concept, l.response)
		}
	}
}

// examineSends says what came back of what was sent.
func (d *doctor) examineSends() {
	before := d.client.Contract().Table().SMSSend
	for _, concept := range slices.Sorted(maps.Keys(d.table.SMSSend.Fields)) {
		name, path := d.table.SMSSend.Fields[concept], partFields+" "+concept
		f, isOwn := finding{concept, name, "", absent, "was not sent"}, name != before.Fields[concept]
		if at := d.proofs[partRecord][concept]; at != "" && f.reads != "" {
			if f.word, f.why = proven, "came back at "+at; isOwn {
				d.prove(name, path)
			}
		} else if f.reads != "" && len(d.sent) > 0 && d.sent[0].values[concept] != "" {
			if f.word, f.why = plausible, "was taken; nothing shows that it counts"; isOwn {
				d.suggest([]string{name}, path)
			}
		}
		d.report.add(partFields, f)
	}
	f, record := finding{"sends", "POST " + d.table.SMSSend.Path, "", absent, "no message was taken"}, d.proofs[partRecord]
	if d.sends = record["to"] != "" && record["text"] != ""; d.sends {
		if f.word, f.why = proven, "recipient and text came back"; d.table.SMSSend.Encoding != before.Encoding {
			d.prove(d.table.SMSSend.Encoding, partSend+" encoding")
		}
	} else if len(d.sent) > 0 {
		f.word, f.why = plausible, "taken; recipient and text did not both come back in a row that is surely its own"
	}
	d.report.add(partSend, f)
	d.examineResponses()
}

// examineResponses looks at what the service responded to the messages.
func (d *doctor) examineResponses() {
	var docs []document.Node
	foreign := 0 // responses with a reference of the service's own
	for i, m := range d.sent {
		if m.why != "" {
			d.report.note(partSend, "message %d: %s", i+1, m.why)
		}
		one := []document.Node{m.response}
		path, ids := find(one, d.table.SMSSend.Response["id"])
		hasID := func(row document.Node) bool { return len(holding(row, ids[0].Text())) > 0 }
		if len(ids) > 0 && !slices.ContainsFunc(d.rows, hasID) {
			d.report.note(partSend, "message %d: no row has the ID of its response, which is at %s", i+1, path)
		}
		_, references := find(one, d.table.SMSSend.Response["reference"])
		if len(m.rows) > 0 && len(references) > 0 && !m.has(m.response, "reference") {
			foreign++
		}
		if m.response.Exists() {
			docs = append(docs, m.response)
		}
	}
	if foreign >= enough {
		why := "holds a reference of the service's own, and the rows have those that were sent"
		d.report.note(partResponse, "reference %s", why)
		d.reject([]string{}, why, partResponse+" reference")
	}
	d.examineMembers(partResponse, docs, d.table.SMSSend.Response, "")
}
