package sandbox

import (
	_ "embed" // for the description of the API
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// openAPI describes the API.
//
//go:embed openapi.json
var openAPI []byte

// An operation of the API reads its request, acts, and returns the response.
type operation func(s *Sandbox, r *request) (any, error)

// with returns an operation that takes a body.
func with[T any](act func(s *Sandbox, r *request, body T) (any, error)) operation {
	return func(s *Sandbox, r *request) (any, error) {
		var body T
		if err := r.decode(&body); err != nil {
			return nil, err
		}
		return act(s, r, body)
	}
}

// operations returns the API, by method and path below Root.
func operations() map[string]operation {
	return map[string]operation{
		"GET openapi.json":          func(*Sandbox, *request) (any, error) { return json.RawMessage(openAPI), nil },
		"GET messages":              (*Sandbox).getMessages,
		"GET messages/{id}":         (*Sandbox).getMessage,
		"DELETE messages/{id}":      (*Sandbox).deleteMessage,
		"POST messages/{id}/repeat": with((*Sandbox).postRepeat),
		"GET calls":                 (*Sandbox).getCalls,
		"GET traffic":               (*Sandbox).getTraffic,
		"GET traffic.har":           (*Sandbox).getHAR,
		"POST replies":              with((*Sandbox).postReply),
		"POST samples":              with((*Sandbox).postSample),
		"POST deliveries":           with((*Sandbox).postDelivery),
		"POST clock":                with((*Sandbox).postClock),
		"GET faults":                (*Sandbox).getFaults,
		"POST faults":               with((*Sandbox).postFaults),
		"DELETE faults":             (*Sandbox).deleteFaults,
		"DELETE faults/{id}":        (*Sandbox).deleteFaults,
		"GET settings":              func(s *Sandbox, _ *request) (any, error) { return s.readSettings(), nil },
		"PATCH settings":            (*Sandbox).patchSettings,
		"POST seen":                 with((*Sandbox).postSeen),
		"POST reset":                with((*Sandbox).postReset),
		"DELETE scenario":           (*Sandbox).deleteScenario,
		"GET spaces":                func(s *Sandbox, _ *request) (any, error) { return map[string]any{"spaces": s.owner.list()}, nil },
		"DELETE spaces/{name}":      (*Sandbox).deleteSpace,
	}
}

// routed returns the page and the API. What they do not know is a page for a browser, and an error in JSON for a program.
func (s *Sandbox) routed() http.Handler {
	mux := http.NewServeMux()
	routes := map[string]http.HandlerFunc{
		"GET {$}": s.pageConversations, "GET page/faults": s.pageFaults, "GET page/traffic": s.pageTraffic, "GET page/connect": s.pageConnect,
		"GET static/{name}": static, "GET events": s.stream,
	}
	for pattern, act := range operations() {
		routes[pattern] = func(w http.ResponseWriter, r *http.Request) { s.perform(w, r, act) }
	}
	methods := map[string][]string{}
	for pattern, f := range routes {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+Root+path, f)
		methods[path] = append(methods[path], method)
	}
	for path, known := range methods {
		slices.Sort(known)
		allowed := strings.Join(known, ", ")
		mux.HandleFunc(Root+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", allowed)
			failed(w, &refusal{http.StatusMethodNotAllowed, "the methods of this path are " + allowed, nil})
		})
	}
	mux.HandleFunc("/", s.pageMissing)
	return mux
}

// perform responds with the result of an operation. What changes something needs a token.
func (s *Sandbox) perform(w http.ResponseWriter, r *http.Request, act operation) {
	if r.Method != http.MethodGet && !s.mayChange(r) {
		failed(w, &refusal{http.StatusForbidden, "the header Authorization with Bearer and the token of the service is missing or wrong", nil})
		return
	}
	call := &request{Request: r, w: w, values: r.URL.Query()}
	if r.Method != http.MethodGet {
		if err := call.readBody(); err != nil {
			failed(w, err)
			return
		}
	}
	if equal(r.Header.Get(tokenHeader), s.page) {
		act = s.recorded(act)
	}
	response, err := act(s, call)
	if err != nil {
		failed(w, err)
		return
	}
	respond(w, http.StatusOK, response)
}

// done is the response of what has nothing to say.
func done(err error) (any, error) { return struct{}{}, err }

func (s *Sandbox) deleteMessage(r *request) (any, error) {
	if !s.remove(r.PathValue("id")) {
		return nil, errNoSuchMessage
	}
	return done(nil)
}

func (s *Sandbox) getTraffic(r *request) (any, error) {
	limit, after := r.limit(), r.number("after", 1, 0)
	if err := r.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []Exchange{}
	for _, x := range s.traffic.all {
		if x.ID > after {
			all = append(all, s.shown(x))
		}
	}
	return map[string]any{"exchanges": window(all, after > 0, limit)}, nil
}

// window returns the first of a list if they follow a cursor, and otherwise the last.
func window[T any](list []T, follows bool, limit int) []T {
	if !follows {
		list = list[max(0, len(list)-limit):]
	}
	return list[:min(len(list), limit)]
}

type seenBody struct {
	Channel string `json:"channel"`
	To      string `json:"to"`
	From    string `json:"from"` // the sender of an SMS
}

// postSeen marks the messages of a conversation as read by the person at the page.
func (s *Sandbox) postSeen(_ *request, body seenBody) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.book.conversation(body.Channel, body.To, body.From); c != nil && c.Unread > 0 {
		c.Unread = 0
		for _, e := range c.Entries {
			e.seen = true
		}
		s.live.notify("")
	}
	return done(nil)
}

type resetBody struct {
	All bool `json:"all,omitempty"` // the clock, the balance, deliveries and settings, too
}

func (s *Sandbox) postReset(_ *request, body resetBody) (any, error) {
	return done(s.owner.renew(s, body.All))
}
