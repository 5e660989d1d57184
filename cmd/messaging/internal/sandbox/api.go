package sandbox

import (
	_ "embed" // for the description of the API
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// apiTemplate describes the API, but for the names of channels and operations.
//
//go:embed openapi.json
var apiTemplate string

// openAPI describes the API.
func openAPI() []byte {
	var channels []string
	for _, c := range table.Channels() {
		channels = append(channels, c.Name)
	}
	list := func(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }
	return []byte(strings.NewReplacer(`"{channels}"`, list(channels), `"{operations}"`, list(operationNames())).Replace(apiTemplate))
}

// routed returns the page and the API. What they do not know is an error in JSON, too.
func (s *Sandbox) routed() http.Handler {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for pattern, handle := range map[string]http.HandlerFunc{
		"GET /_sandbox/{$}":                   s.pageConversations,
		"GET /_sandbox/page/faults":           s.pageFaults,
		"GET /_sandbox/page/traffic":          s.pageTraffic,
		"GET /_sandbox/page/connect":          s.pageConnect,
		"GET /_sandbox/static/{name}":         static,
		"GET /_sandbox/events":                s.stream,
		"GET /_sandbox/openapi.json":          getOpenAPI,
		"GET /_sandbox/messages":              s.getMessages,
		"GET /_sandbox/messages/{id}":         s.getMessage,
		"DELETE /_sandbox/messages/{id}":      changing(s, s.deleteMessage),
		"POST /_sandbox/messages/{id}/repeat": changing(s, s.postRepeat),
		"GET /_sandbox/calls":                 s.getCalls,
		"GET /_sandbox/traffic":               s.getTraffic,
		"GET /_sandbox/traffic.har":           s.getHAR,
		"GET /_sandbox/faults":                func(w http.ResponseWriter, _ *http.Request) { respond(w, http.StatusOK, s.listFaults()) },
		"GET /_sandbox/settings":              func(w http.ResponseWriter, _ *http.Request) { respond(w, http.StatusOK, s.readSettings()) },
		"POST /_sandbox/replies":              changing(s, s.postReply),
		"POST /_sandbox/samples":              changing(s, s.postSample),
		"POST /_sandbox/deliveries":           changing(s, s.postDelivery),
		"POST /_sandbox/clock":                changing(s, s.postClock),
		"POST /_sandbox/faults":               changing(s, s.postFaults),
		"DELETE /_sandbox/faults":             changing(s, s.deleteFaults),
		"DELETE /_sandbox/faults/{id}":        changing(s, s.deleteFaults),
		"PATCH /_sandbox/settings":            changing(s, s.patchSettings),
		"POST /_sandbox/seen":                 changing(s, s.postSeen),
		"POST /_sandbox/reset":                changing(s, s.postReset),
	} {
		mux.HandleFunc(pattern, handle)
		method, path, _ := strings.Cut(pattern, " ")
		methods[path] = append(methods[path], method)
	}
	for path, known := range methods {
		slices.Sort(known)
		allowed := strings.Join(known, ", ")
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", allowed)
			fail(w, http.StatusMethodNotAllowed, errors.New("the methods of this path are "+allowed))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, errors.New("there is no such path: "+Root+"openapi.json lists them"))
	})
	return mux
}

func getOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPI())
}

func (s *Sandbox) deleteMessage(r *http.Request, _ struct{}) (any, error) {
	if !s.remove(r.PathValue("id")) {
		return nil, errNoSuchMessage
	}
	return struct{}{}, nil
}

func (s *Sandbox) getTraffic(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	limit, err := parseLimit(v.Get("limit"))
	after := 0
	if text := v.Get("after"); err == nil && text != "" {
		if after, err = strconv.Atoi(text); err != nil || after < 1 {
			err = errors.New("after must be the ID of an exchange")
		}
	}
	if err == nil {
		err = onlyKnown(v, "after", "limit")
	}
	if err != nil {
		failed(w, err)
		return
	}
	s.mu.Lock()
	all := make([]Exchange, 0, min(len(s.traffic.all), limit))
	for _, x := range s.traffic.all {
		if x.ID > after {
			all = append(all, s.shown(x))
		}
	}
	s.mu.Unlock()
	if after == 0 {
		all = all[max(0, len(all)-limit):]
	}
	respond(w, http.StatusOK, map[string]any{"exchanges": all[:min(len(all), limit)]})
}

func (s *Sandbox) postReply(r *http.Request, a Answer) (any, error) {
	id, calls, err := s.answer(r.Context(), a)
	if err != nil && !errors.Is(err, errNoWebhook) {
		return nil, err
	}
	return result(id, calls, err), nil
}

// result says what a webhook responded, or why it was not called.
func result(id string, calls []*Call, err error) map[string]any {
	if calls == nil {
		calls = []*Call{}
	}
	body := map[string]any{"id": id, "calls": calls}
	if err != nil {
		body["note"] = err.Error()
	}
	return body
}

type repeatBody struct {
	Twice bool                        `json:"twice"`
	About messagingtest.DeliveryState `json:"about"`
}

func (s *Sandbox) postRepeat(r *http.Request, body repeatBody) (any, error) {
	calls, err := s.repeat(r.Context(), r.PathValue("id"), body.About, body.Twice)
	return result(r.PathValue("id"), calls, nil), err
}

type deliveryBody struct {
	Channel messagingtest.Channel `json:"channel"`
	To      string                `json:"to"`
	Message string                `json:"message"`
	Outcome string                `json:"outcome"`
	After   string                `json:"after"`
}

func (s *Sandbox) postDelivery(_ *http.Request, body deliveryBody) (any, error) {
	after, err := parseDuration("after", body.After)
	choice := outcomeChoice{body.Outcome, after}
	switch {
	case err != nil:
	case (body.To == "") == (body.Message == ""):
		err = errors.New("either to or message must be set: a recipient, or the ID of a message")
	case body.To != "":
		err = s.setDelivery(body.Channel, body.To, choice)
	default:
		err = s.setOutcome(body.Message, choice)
	}
	return struct{}{}, err
}

// parseDuration parses a duration of a request; an absent one is zero.
func parseDuration(name, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s must be a duration, such as 10m", name)
	}
	return d, nil
}

type clockBody struct {
	Advance string `json:"advance"`
	Message string `json:"message"` // to the end of its lifetime
}

func (s *Sandbox) postClock(_ *http.Request, body clockBody) (any, error) {
	d, err := time.ParseDuration(body.Advance)
	switch {
	case body.Message != "" && body.Advance == "":
		_, err = s.advanceTo(body.Message)
	case body.Message != "" || err != nil:
		err = errAdvance
	default:
		err = s.advance(d)
	}
	return s.readSettings(), err
}

// FaultKind is a fault as the API lists it.
type FaultKind struct {
	Name     string `json:"name"`
	What     string `json:"what"`
	Go       string `json:"go"` // the function of package messagingtest
	Verdict  string `json:"verdict"`
	InLedger bool   `json:"inLedger"`
}

func (s *Sandbox) listFaults() any {
	body := struct {
		Faults []FaultKind  `json:"faults"`
		Rules  []*faultRule `json:"rules"`
	}{Rules: []*faultRule{}}
	for _, k := range faultKinds() {
		body.Faults = append(body.Faults, FaultKind{k.Name, k.What, k.Go, k.Verdict, k.InLedger})
	}
	for _, rule := range s.rulesInForce() {
		body.Rules = append(body.Rules, &rule)
	}
	return body
}

// rulesInForce returns copies of the rules for faults.
func (s *Sandbox) rulesInForce() []faultRule {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.expire(time.Now())
	rules := []faultRule{}
	for _, rule := range s.faults.rules {
		rules = append(rules, *rule)
	}
	return rules
}

type faultsBody struct {
	Fault     string                `json:"fault"`
	Faults    []string              `json:"faults"`
	N         int                   `json:"n"`
	Share     float64               `json:"share"`
	Duration  string                `json:"duration"`
	Capacity  int                   `json:"capacity"`
	Delay     string                `json:"delay"`  // of slow, or Retry-After of a status
	Status    int                   `json:"status"` // of status-after and page
	To        string                `json:"to"`
	Channel   messagingtest.Channel `json:"channel"`
	Operation string                `json:"operation"`
}

func (s *Sandbox) postFaults(_ *http.Request, body faultsBody) (any, error) {
	if body.Fault != "" {
		body.Faults = append(body.Faults, body.Fault)
	}
	const maxFaults = 20
	if len(body.Faults) > maxFaults {
		return nil, fmt.Errorf("more than %d faults in one rule", maxFaults)
	}
	err := s.inject(faultRule{
		Faults: body.Faults, Left: body.N, Share: body.Share, Duration: body.Duration, Capacity: body.Capacity, Delay: body.Delay, Status: body.Status,
		To: body.To, Channel: body.Channel, Operation: body.Operation,
	})
	return s.listFaults(), err
}

func (s *Sandbox) deleteFaults(r *http.Request, _ struct{}) (any, error) {
	id := 0
	if text := r.PathValue("id"); text != "" {
		var err error
		if id, err = strconv.Atoi(text); err != nil || id < 1 {
			return nil, errNoSuchFault
		}
	}
	if !s.clearFaults(id) {
		return nil, errNoSuchFault
	}
	return s.listFaults(), nil
}

type seenBody struct {
	Channel messagingtest.Channel `json:"channel"`
	To      string                `json:"to"`
	From    string                `json:"from"` // the sender of an SMS
}

// postSeen marks the messages of a conversation as read by the person at the page.
func (s *Sandbox) postSeen(_ *http.Request, body seenBody) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.book.conversation(body.Channel, body.To, body.From); c != nil && c.Unread > 0 {
		c.Unread = 0
		for _, e := range c.Entries {
			e.seen = true
		}
		s.live.notify(aboutMessages)
	}
	return struct{}{}, nil
}

type resetBody struct {
	All bool `json:"all"` // the clock, the balance, deliveries and settings, too
}

func (s *Sandbox) postReset(_ *http.Request, body resetBody) (any, error) {
	if body.All {
		return struct{}{}, s.owner.renew(s)
	}
	if s.reset() != nil {
		return nil, errKeep
	}
	return struct{}{}, nil
}
