package messagingtest

import "fmt"

// A Category is what a chat-app-2 message is about, which decides on its route. The three of templates and their
// routing are of the specification; which word stands for each is Meta's.
type Category string

// The categories. A free-form message, which is no template, has CategoryService, unless its body names another in the
// member category.
const (
	CategoryUtility        Category = "utility"
	CategoryAuthentication Category = "authentication"
	CategoryMarketing      Category = "marketing"
	CategoryService        Category = "service"
)

// A Route is the interface of the third-party platform by which a chat-app-2 message has gone. That there are these two is
// of the specification; the words are the stand-in's.
type Route string

// The routes.
const (
	RouteCloud             Route = "cloud"              // the cloud messaging platform
	RouteMarketingMessages Route = "marketing_messages" // the marketing-messages interface
)

// routing is guarded by the server's mutex.
type routing struct {
	templates   map[string]Category
	noMarketing bool
}

// route decides on the category and the route of a message, or reports false if it may take none.
func (r *routing) route(m *submission) bool {
	switch {
	case m.Kind == kindTemplate:
		m.Category = CategoryUtility
		if registered, ok := r.templates[m.Template]; ok {
			m.Category = registered
		}
	case m.Category == "":
		m.Category = CategoryService
	}
	m.Route = RouteCloud
	if m.Category != CategoryMarketing {
		return true
	}
	if !r.noMarketing {
		m.Route = RouteMarketingMessages
		return true
	}
	return !m.strict
}

// RegisterTemplate says of which category a chat-app-2 template is, for the messages that are accepted from now on. A
// template that was never registered is of [CategoryUtility], which is the stand-in's choice: a service would refuse it.
// Registering again replaces the category, and [Server.Reset] forgets none. RegisterTemplate panics if the name is empty
// or the category is none of utility, authentication and marketing.
func (s *Server) RegisterTemplate(name string, category Category) {
	if name == "" {
		panic("messagingtest: RegisterTemplate: the name is empty")
	}
	switch category {
	case CategoryUtility, CategoryAuthentication, CategoryMarketing:
	case CategoryService:
		panic(fmt.Sprintf("messagingtest: RegisterTemplate(%q): a template is not of the category service", name))
	default:
		panic(fmt.Sprintf("messagingtest: RegisterTemplate(%q): no such category: %q", name, category))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.routing.templates == nil {
		s.routing.templates = map[string]Category{}
	}
	s.routing.templates[name] = category
}

// SetMarketingRoute says whether the marketing-messages interface can be used, as it can at the start, by the messages
// that are accepted from now on; [Server.Reset] changes nothing about it. Where it cannot, a marketing message goes by
// [RouteCloud], as the specification has it.
//
// A message whose product_policy is STRICT, a word of Meta's, forbids that. It is refused, which the specification
// leaves open: with the HTTP status 400 and the code 200219, which is of the class of invalid requests. It costs
// nothing, is not in the ledger, and its SMS fallback is not sent, because there was no delivery that failed. A correct
// client's verdict is refused. A product_policy of a message that is not a marketing one changes nothing.
func (s *Server) SetMarketingRoute(available bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routing.noMarketing = !available
}
