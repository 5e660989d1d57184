package messagingtest

import "slices"

// A Category is what a chat-app-2 message is about. It decides on its route.
type Category string

// The categories. A free-form message has CategoryService, unless its body names another.
const (
	CategoryUtility        Category = "utility"
	CategoryAuthentication Category = "authentication"
	CategoryMarketing      Category = "marketing"
	CategoryService        Category = "service"
)

// A Route is the interface of the third-party platform by which a chat-app-2 message went.
type Route string

// The routes.
const (
	RouteCloud             Route = "cloud"              // the cloud messaging platform
	RouteMarketingMessages Route = "marketing_messages" // the marketing-messages interface
)

// route sets the category and the route of a message, or reports false if it may take none.
func (s *Server) route(m *submission) bool {
	switch {
	case m.Kind == "template":
		m.Category = CategoryUtility
		if registered, ok := s.templates[m.Template]; ok {
			m.Category = registered
		}
	case m.Category == "":
		m.Category = CategoryService
	}
	m.Route = RouteCloud
	if m.Category != CategoryMarketing {
		return true
	}
	if !s.noMarketing {
		m.Route = RouteMarketingMessages
		return true
	}
	return !m.strict
}

// RegisterTemplate sets the category of a chat-app-2 template, for messages that are accepted from now on. A template that is
// not registered has [CategoryUtility]. RegisterTemplate panics if the name is empty or the category is not one of templates.
func (s *Server) RegisterTemplate(name string, category Category) {
	known := slices.Contains([]Category{CategoryUtility, CategoryAuthentication, CategoryMarketing}, category)
	must(name != "" && known, "RegisterTemplate(%q, %q): the name is empty, or the category is not one of templates", name, category)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.templates[name] = category
}

// SetMarketingRoute sets whether the marketing-messages interface is available, as it is at the start, to messages that are
// accepted from now on. If it is not, marketing messages go by [RouteCloud]. One whose product_policy is STRICT is refused
// instead, with the HTTP status 400 and the code 200219, and its fallback is not sent.
func (s *Server) SetMarketingRoute(available bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noMarketing = !available
}
