package doctor

import (
	"context"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
)

// amender finds out what a service calls the fields of a send, by what it refuses. A refusal sends nothing. What it changes counts only
// if a message is accepted in the end.
type amender struct {
	*doctor

	tried   map[string]bool // concept and name
	tries   map[string]int  // names of which nothing speaks, by concept
	changed map[string]line // by concept, or "encoding"
}

// sendAmending sends the message. As long as the service refuses it for what it holds, it changes the names that the service speaks of.
func (d *doctor) sendAmending(ctx context.Context) call {
	const most = 40
	a := &amender{d, map[string]bool{}, map[string]int{}, map[string]line{}}
	client, overlay, names, reference := d.client, d.overlay, d.table, d.sent.reference
	first := d.send(ctx, d.sent.message())
	c := first
	for range most {
		if !isAmendable(c) || ctx.Err() != nil || !a.amend(c) {
			break
		}
		c = d.send(ctx, d.sent.message())
	}
	if isAmendable(c) || c.err != nil && messaging.VerdictOf(c.err) != messaging.Unknown {
		d.client, d.plain, d.overlay, d.table, d.sent.reference = client, nil, overlay, names, reference
		return first
	}
	for _, what := range sortedKeys(a.changed) {
		l := a.changed[what]
		d.add("field "+what, Differs, "refused as the contract has it, accepted with this", l)
	}
	if d.sent.reference == "" && reference != "" {
		d.isWithout = true
		d.add("field reference", Differs, "a message with a reference ID is refused, one without is not, and no other name was found: "+
			"the overlay names none (sms.send.fields.reference)")
	}
	return c
}

// isAmendable reports whether a send was refused for what it holds.
func isAmendable(c call) bool {
	if c.x == nil || c.err == nil {
		return false
	}
	return slices.Contains([]int{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType}, c.x.status)
}

var (
	saysUnknown = regexp.MustCompile(`(?i)unknown|unexpected|unrecogni[sz]ed|not allowed|additional|unsupported|not permitted|no such|` +
		`extraneous|undefined|not a valid (field|param)`)
	saysRequired = regexp.MustCompile(`(?i)required|missing|must not be (empty|blank|null)|mandatory|absent|` +
		`not (present|provided|specified|given)|expected|needed|cannot be (empty|blank|null)|is empty|can't be blank`)
	saysList   = regexp.MustCompile(`(?i)(must be|expected|not|should be|want) an? (array|list)`)
	saysObject = regexp.MustCompile(`(?i)(must be|expected|not|should be|want) an? (object|struct|map)`)
)

// complaint is something that a refusal says, and the names in it.
type complaint struct {
	text  string
	names []string
}

// complaints returns what a refusal says: each of its texts, with the names that stand in it or are those of the members around it.
func complaints(c call) (all []complaint) {
	if c.wrong != nil {
		text := c.x.body.String()
		const most = 4096
		text = text[:min(len(text), most)]
		return []complaint{{text, identifiers(text)}}
	}
	var walk func(n document.Node, above []string)
	walk = func(n document.Node, above []string) {
		switch {
		case n.IsList():
			for _, element := range n.List() {
				walk(element, above)
			}
		case n.Object() != nil:
			var texts []string
			for _, name := range sortedKeys(n.Object()) {
				if inner := n.At(name); inner.IsString() {
					texts = append(texts, inner.Text())
				} else {
					walk(inner, append(slices.Clone(above), name))
				}
			}
			if len(texts) > 0 { // one object says one thing
				said := complaint{text: strings.Join(texts, " ")}
				for _, name := range sortedKeys(n.Object()) {
					if n.At(name).IsString() {
						said.names = append(said.names, name)
					}
				}
				said.names = append(identifiers(said.text), slices.Concat(said.names, above)...)
				all = append(all, said)
			}
		case n.IsString():
			all = append(all, complaint{n.Text(), append(identifiers(n.Text()), above...)})
		}
	}
	walk(c.doc, nil)
	return all
}

// identifiers returns the names in a text, as paths of a contract.
func identifiers(text string) (names []string) {
	for _, name := range identifier.FindAllString(strings.ReplaceAll(text, "/", "."), -1) {
		name = strings.NewReplacer("[", ".", "]", "", "$.", "").Replace(name)
		names = append(names, strings.TrimPrefix(name, "body."))
	}
	return names
}

// amend changes one name, or the encoding, by what a refusal says, and reports whether there was anything to change.
func (a *amender) amend(c call) bool {
	all := complaints(c)
	if slices.ContainsFunc(all, a.takeName) {
		return true
	}
	for _, said := range all {
		if concept := a.ours(said); concept != "" && a.reshape(said, concept) {
			return true
		}
	}
	for _, said := range all {
		if concept := a.ours(said); concept != "" && saysUnknown.MatchString(said.text) && a.rename(concept) {
			return true
		}
	}
	isRequired := slices.ContainsFunc(all, func(said complaint) bool { return a.ours(said) != "" && saysRequired.MatchString(said.text) })
	if isRequired || c.x.status == http.StatusUnsupportedMediaType || len(all) == 0 {
		return a.encode()
	}
	return false
}

// ours returns the concept of the field that a complaint names as we do, or "".
func (a *amender) ours(said complaint) string {
	for _, concept := range sortedKeys(a.table.SMSSend.Fields) {
		if name := a.table.SMSSend.Fields[concept]; name != "" && concept != "callback" && slices.Contains(said.names, name) {
			return concept
		}
	}
	return ""
}

// sendSection is the fields of a send in the form of paths by concept.
func (a *amender) sendSection() map[string][]string {
	section := map[string][]string{}
	for concept, name := range a.table.SMSSend.Fields {
		section[concept] = []string{name}
	}
	delete(section, "callback")
	return section
}

// takeName takes a name that the service asks for, if it is surely that of a field.
func (a *amender) takeName(said complaint) bool {
	if !saysRequired.MatchString(said.text) && !saysUnknown.MatchString(said.text) {
		return false
	}
	g := newGuesser(a.sendSection(), "request body field parameter", nil)
	fields := a.table.SMSSend.Fields
	for _, name := range said.names {
		isOurs := slices.Contains(slices.Collect(maps.Values(fields)), name)
		if isOurs || !isPlainName(strings.ReplaceAll(name, ".", "")) || isEnglish(name) {
			continue
		}
		best, second, of := 0, 0, ""
		for _, concept := range g.concepts {
			above, own := g.words(name)
			if score := g.score(concept, above, own); score > best {
				best, second, of = score, best, concept.name
			} else {
				second = max(second, score)
			}
		}
		if best == 0 {
			of = a.inRows(name)
		}
		if (best > second || of != "" && best == 0) && a.try(of, name) {
			return true
		}
	}
	return false
}

// inRows returns the concept of the member of the rows with a name, by its values, or "": a number of many is a recipient, what has spaces
// is a text, and one of few names is a sender.
func (a *amender) inRows(name string) string {
	const few, long = 4, 8
	leaf := name[strings.LastIndexByte(name, '.')+1:]
	all, _ := columns(a.rows, "")
	for _, c := range all {
		if c.path[strings.LastIndexByte(c.path, '.')+1:] != leaf || len(c.values) < len(a.rows) || len(c.values) == 0 {
			continue
		}
		isLong := !slices.ContainsFunc(c.values, func(v document.Node) bool { return len(digitsOf(v.Text())) < long })
		hasSpaces := !slices.ContainsFunc(c.values, func(v document.Node) bool { return !strings.Contains(strings.TrimSpace(v.Text()), " ") })
		switch {
		case fits("phone", c.values) && isLong && distinct(c.values) > few:
			return "to"
		case hasSpaces && fits("text", c.values) && distinct(c.values) > few:
			return "text"
		case fits("sender", c.values) && !fits("time", c.values) && distinct(c.values) <= few:
			return "from"
		}
	}
	return ""
}

// isEnglish reports whether a word of a refusal is one of its language, and no name.
func isEnglish(name string) bool {
	return slices.Contains(strings.Fields("message error errors code detail details title reason field fields parameter param required missing "+
		"unknown invalid the is a an no not and or of in for with must be request body status type name path value"), strings.ToLower(name))
}

// try renames a field, once.
func (a *amender) try(concept, name string) bool {
	l := line{[]string{"sms.send", "fields", concept}, name}
	if a.tried[concept+" "+name] || a.table.SMSSend.Fields[concept] == name {
		return false
	}
	a.tried[concept+" "+name] = true
	if !a.adopt(l) {
		return false
	}
	a.changed[concept] = l
	return true
}

// reshape nests a field of which the service says that it must be a list or an object.
func (a *amender) reshape(said complaint, concept string) bool {
	name := a.table.SMSSend.Fields[concept]
	switch {
	case saysList.MatchString(said.text):
		return a.try(concept, name+".0")
	case saysObject.MatchString(said.text):
		return a.try(concept, name+"."+concept)
	}
	return false
}

// rename tries the next name that a field may have: that of the member of a row, and those that it has elsewhere, beside the other fields.
func (a *amender) rename(concept string) bool {
	const most = 12
	all, _ := columns(a.rows, "")
	g := newGuesser(a.sendSection(), "", all)
	var names []string
	for _, c := range all {
		if above, own := g.words(c.path); g.score(readVocabulary().concepts[concept], above, own) > 0 {
			names = append(names, leafOf(c.path))
		}
	}
	for _, path := range candidates(concept, all) {
		names = append(names, leafOf(path))
	}
	for _, p := range readVocabulary().concepts[concept].phrases {
		names = append(names, styled(strings.Join(p.words, " "))[:2]...)
	}
	names = a.candidates(names)
	for _, name := range names {
		if a.tries[concept] < most && a.try(concept, a.beside()+name) {
			a.tries[concept]++
			return true
		}
	}
	return concept == "reference" && a.sent.reference != "" && a.goWithout()
}

// goWithout drops the reference ID: the contract then has no name for it, and a send with one is an error.
func (a *amender) goWithout() bool {
	delete(a.changed, "reference")
	a.sent.reference = ""
	return a.adopt(line{[]string{"sms.send", "fields", "reference"}, ""})
}

// beside returns the objects in which the service wants fields that it named, as the beginning of a path.
func (a *amender) beside() string {
	for _, concept := range []string{"text", "from", "to"} {
		if l, ok := a.changed[concept]; ok {
			name, _ := l.value.(string)
			return name[:strings.LastIndexByte(strings.TrimSuffix(name, ".0"), '.')+1]
		}
	}
	return ""
}

// encode writes the request in another way, once.
func (a *amender) encode() bool {
	l := line{[]string{"sms.send", "encoding"}, "form"}
	if a.table.SMSSend.Encoding == "form" {
		l.value = "json"
	}
	if a.tried["encoding"] {
		return false
	}
	a.tried["encoding"] = true
	if !a.adopt(l) {
		return false
	}
	a.changed["encoding"] = l
	return true
}

// statusOf returns the meaning of the status of a row, or "".
func (d *doctor) statusOf(word string) string {
	status, _ := table.Meaning(d.table.WebhookDelivery.Statuses, word, true)
	return status
}
