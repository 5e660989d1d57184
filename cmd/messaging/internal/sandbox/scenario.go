package sandbox

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// maxSteps is how many steps a scenario has. Later ones are not recorded.
const maxSteps = 100

// A step is a call of the API that repeats what was done on the page. In its texts, the name of another step's message stands between
// NUL characters.
type step struct {
	method, path, body string
	name               string // of the message or answer that it brings, if it brings one
	id                 string // that the message has now
}

// recorded returns an operation that is a step of the scenario if it succeeds.
func (s *Sandbox) recorded(act operation) operation {
	return func(_ *Sandbox, r *request) (any, error) {
		about := document.Parse(r.body)
		s.mu.Lock()
		var concerns []*entry
		for _, id := range []string{about.At("message").Text(), r.PathValue("id")} {
			if e := s.book.byID[id]; e != nil {
				concerns = append(concerns, e)
			}
		}
		s.mu.Unlock()
		response, err := act(s, r)
		if err == nil {
			s.record(step{method: r.Method, path: strings.TrimPrefix(r.URL.Path, Root), body: string(r.body)}, about, concerns, response)
		}
		return response, err
	}
}

// record adds a step that concerns these messages.
func (s *Sandbox) record(next step, about document.Node, concerns []*entry, response any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch next.path {
	case "scenario":
		return
	case "seen":
		channel := string(about.At("channel").Text())
		if c := s.book.conversation(channel, about.At("to").Text(), about.At("from").Text()); c != nil {
			s.awaited(c.last())
		}
		return
	case "replies":
		answer, _ := response.(callsBody)
		next.id = answer.ID
	}
	for _, e := range concerns {
		if name := s.awaited(e); name != "" {
			next.body = strings.ReplaceAll(next.body, strconv.Quote(e.ID), `"`+name+`"`)
			next.path = strings.TrimSuffix(strings.ReplaceAll(next.path+"/", "/"+e.ID+"/", "/"+name+"/"), "/")
		}
	}
	s.addStep(next)
}

// awaited returns the name of a message, and adds a step that waits for it unless there is one. The caller holds mu.
func (s *Sandbox) awaited(e *entry) (name string) {
	path := pageURL("messages", "channel", e.Channel, "to", e.peer)
	for _, known := range s.scenario {
		if known.id == e.ID {
			return known.name
		}
		if strings.HasPrefix(known.path, path) {
			name = "&after=" + known.name
		}
	}
	if e.Answer != nil {
		return ""
	}
	return s.addStep(step{method: http.MethodGet, path: path + "&wait=10s" + name, id: e.ID})
}

// addStep adds a step and returns the name of its message. The caller holds mu.
func (s *Sandbox) addStep(next step) string {
	if len(s.scenario) == maxSteps {
		return ""
	}
	if next.id != "" {
		next.name = "\x00m" + itoa(len(s.scenario)+1) + "\x00"
	}
	s.scenario = append(s.scenario, next)
	return next.name
}

func (s *Sandbox) deleteScenario(*request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scenario = nil
	s.live.notify("")
	return done(nil)
}

// A dialect is how a language writes the steps of a scenario.
type dialect struct {
	id, name      string
	quote         func(string) string
	before, after string // of a name within a text
	bind, call    string // a step whose message is named later, and any other: with NAME, METHOD, PATH and BODY
}

// scenarioCode returns the scenario in each language. The caller holds mu.
func (s *Sandbox) scenarioCode() (ways []way) {
	goQuote := func(text string) string {
		if strings.Contains(text, "`") {
			return strconv.Quote(text)
		}
		return "`" + text + "`"
	}
	jsQuote := func(text string) string { return document.Encode(text) }
	for _, d := range []dialect{
		{"scenario-curl", "curl", shellWord, `"$`, `"`, "NAME=$(call METHOD PATH BODY | id)\n", "call METHOD PATH BODY\n"},
		{"scenario-go", "Go", goQuote, " + ", " + ", "NAME := call(METHOD, PATH, BODY)\n", "call(METHOD, PATH, BODY)\n"},
		{
			"scenario-js", "JavaScript", jsQuote, " + ", " + ",
			"const NAME = await call(METHOD, PATH, BODY);\n", "await call(METHOD, PATH, BODY);\n",
		},
	} {
		var code strings.Builder
		code.WriteString(codeBy(d.id, nil))
		for i, step := range s.scenario {
			line := d.call
			for _, later := range s.scenario[i+1:] {
				if step.name != "" && strings.Contains(later.path+later.body, step.name) {
					line = d.bind
				}
			}
			name := strings.Trim(step.name, "\x00")
			written := strings.NewReplacer("NAME", name, "METHOD", d.quote(step.method), "PATH", d.text(step.path), "BODY", d.text(step.body))
			code.WriteString(written.Replace(line))
		}
		ways = append(ways, way{d.id, d.name, code.String()})
	}
	return ways
}

// text writes a text of a step.
func (d *dialect) text(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "\x00") {
		if i%2 == 1 {
			b.WriteString(d.before + part + d.after)
		} else {
			b.WriteString(d.quote(part))
		}
	}
	return b.String()
}
