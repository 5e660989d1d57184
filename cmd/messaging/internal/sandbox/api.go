package sandbox

import (
	_ "embed" // for the description of the API
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Root is the path of the page and the API. All other paths belong to the service.
const Root = "/_sandbox/"

// openAPI describes the API.
//
//go:embed openapi.json
var openAPI []byte

// An operation of the API reads its request, acts, and returns the response.
type operation func(s *Sandbox, r *request) (any, error)

// withBody returns an operation that has a body.
func withBody[T any](act func(s *Sandbox, r *request, body T) (any, error)) operation {
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
		"POST messages":             withBody((*Sandbox).postMessages),
		"GET messages/{id}":         (*Sandbox).getMessage,
		"POST messages/{id}/repeat": withBody((*Sandbox).postRepeat),
		"GET calls":                 (*Sandbox).getCalls,
		"GET traffic":               (*Sandbox).getTraffic,
		"GET replies":               (*Sandbox).getReplies,
		"POST replies":              withBody((*Sandbox).postReply),
		"POST samples":              withBody((*Sandbox).postSample),
		"POST deliveries":           withBody((*Sandbox).postDelivery),
		"POST clock":                withBody((*Sandbox).postClock),
		"GET faults":                (*Sandbox).getFaults,
		"POST faults":               withBody((*Sandbox).postFaults),
		"DELETE faults":             (*Sandbox).deleteFaults,
		"DELETE faults/{id}":        (*Sandbox).deleteFault,
		"GET settings":              func(s *Sandbox, _ *request) (any, error) { return s.readSettings(), nil },
		"PATCH settings":            (*Sandbox).patchSettings,
		"POST reset":                withBody((*Sandbox).postReset),
		"GET spaces":                func(s *Sandbox, _ *request) (any, error) { return map[string]any{"spaces": s.owner.list()}, nil },
		"DELETE spaces/{name}":      (*Sandbox).deleteSpace,
	}
}

// newMux returns the handler of the page and the API.
func (s *Sandbox) newMux() http.Handler {
	routes := map[string]http.HandlerFunc{
		"GET {$}":           s.pageConversations,
		"GET page/faults":   s.pageFaults,
		"GET page/traffic":  s.pageTraffic,
		"GET page/connect":  s.pageConnect,
		"GET static/{name}": static,
		"GET events":        s.stream,
	}
	for pattern, act := range operations() {
		routes[pattern] = func(w http.ResponseWriter, r *http.Request) { s.perform(w, r, act) }
	}
	mux := http.NewServeMux()
	methods := map[string][]string{} // by path
	for pattern, handle := range routes {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+Root+path, handle)
		methods[path] = append(methods[path], method)
	}
	for path, known := range methods {
		slices.Sort(known)
		allowed := strings.Join(known, ", ")
		mux.HandleFunc(Root+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", allowed)
			writeError(w, &httpError{status: http.StatusMethodNotAllowed, text: "this path supports " + allowed})
		})
	}
	mux.HandleFunc("/", s.pageMissing)
	return mux
}

// perform responds with the result of an operation. All methods but GET require a token.
func (s *Sandbox) perform(w http.ResponseWriter, r *http.Request, act operation) {
	call := &request{Request: r, w: w, values: r.URL.Query()}
	if r.Method != http.MethodGet {
		if !s.mayChange(r) {
			writeError(w, &httpError{status: http.StatusForbidden, text: "missing or invalid Authorization: Bearer token"})
			return
		}
		if err := call.readBody(); err != nil {
			writeError(w, err)
			return
		}
	}
	response, err := act(s, call)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, response)
}

type resetBody struct {
	All bool `json:"all,omitempty"` // also the clock, the balance, deliveries and settings
}

func (s *Sandbox) postReset(_ *request, body resetBody) (any, error) {
	return empty(), s.owner.reset(s, body.All)
}
