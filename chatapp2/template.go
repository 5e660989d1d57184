package chatapp2

import (
	"fmt"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Template is a message whose text was approved beforehand, with what fills its gaps. It is the only content that reaches a
// recipient who has not written within 24 hours. Its category (utility, authentication, marketing) is a property of the
// template and decides how the service routes the message.
//
//	chatapp2.Template{Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana", "42")}}
type Template struct {
	// Name is that of the template, at most 512 lower-case letters, digits and underscores. Required.
	Name string
	// Language is the code of its language, such as "en" or "en_US". Required.
	Language string
	// Policy is "deterministic", or empty, which means the same.
	Policy string
	// Components fills the gaps of the template, each part at most once, each button by its index. Nil where it has none.
	Components []Component
}

type templateBody struct {
	Name       string       `json:"name,omitzero"`
	Language   languageBody `json:"language,omitzero"`
	Components []any        `json:"components,omitzero"`
}

type languageBody struct {
	Code   string `json:"code,omitzero"`
	Policy string `json:"policy,omitzero"`
}

func (Template) kind() string { return typeTemplate }

func (t Template) content() any {
	return templateBody{t.Name, languageBody{t.Language, t.Policy}, componentsOf(t.Components)}
}

func readTemplate(value any) (Template, bool) {
	var b templateBody
	ok := fill(value, &b)
	t := Template{Name: b.Name, Language: b.Language.Code, Policy: b.Language.Policy, Components: readComponents(b.Components, placeTemplate)}
	return t, ok
}

func (t Template) check(c *checks, path string) {
	c.required(path+".Name", t.Name, 512)
	c.word(path+".Name", t.Name)
	c.required(path+".Language", t.Language, 0)
	c.oneOf(path+".Policy", t.Policy, "deterministic")
	where := placeTemplate
	if len(t.Components) == 1 {
		where = placeBodyAlone
	}
	for _, component := range t.Components {
		if _, ok := as[LimitedTimeOffer](component); ok {
			where = placeOffer
		}
	}
	checkComponents(c, path+".Components", t.Components, where)
	t.checkNames(c, path+".Components")
}

// checkNames holds the header's text against the body: a template was made with names, or without.
func (t Template) checkNames(c *checks, path string) {
	header, text := -1, TextParam{}
	var body TemplateBody
	for i, component := range t.Components {
		if h, ok := as[TemplateHeader](component); ok {
			if text, ok = as[TextParam](h.Parameter); ok {
				header = i
			}
		}
		if b, ok := as[TemplateBody](component); ok {
			body = b
		}
	}
	for _, parameter := range body {
		if _, raw := as[RawParameter](parameter); raw || wire.IsNil(parameter) {
			continue
		}
		if header >= 0 && (text.Name == "") != (parameter.fits().name == "") {
			c.found(at(path, header)+".Parameter.Name", "want a name on every parameter of the template, or on none")
		}
		return
	}
}

// place is where components stand, which decides how much text a body takes.
type place int

const (
	placeTemplate place = iota
	placeBodyAlone
	placeOffer
	placeCard
)

// bodyMost is how many characters the parameters of a body may have, since the whole text is bounded by it.
func (p place) bodyMost() int {
	switch p {
	case placeBodyAlone:
		return 32768
	case placeOffer:
		return 600
	case placeCard:
		return 160
	case placeTemplate:
		return 1024
	default:
		return 1024
	}
}

// checkComponents checks the components of a template or of one of its cards.
func checkComponents(c *checks, path string, components []Component, where place) {
	seen := map[string]int{}
	copyCodes, urls := 0, 0
	for i, component := range components {
		own := at(path, i)
		if wire.IsNil(component) {
			c.found(own, "must not be nil")
			continue
		}
		component.check(c, own, where)
		identity := component.identity()
		if identity == "" {
			continue
		}
		if first, ok := seen[identity]; ok {
			c.found(own, fmt.Sprintf("must be another part than that of index %d", first))
			continue
		}
		seen[identity] = i
		if _, ok := as[CopyCodeButton](component); ok {
			if copyCodes++; copyCodes == 2 {
				c.limit(own, "want at most one CopyCodeButton")
			}
		}
		if _, ok := as[URLButton](component); ok {
			if urls++; urls == 3 {
				c.limit(own, "want at most two URLButtons")
			}
		}
	}
}

// checkTextTotal checks the texts that fill the gaps of one part together.
func checkTextTotal(c *checks, path string, parameters []Parameter, most int) {
	total := 0
	for _, parameter := range parameters {
		if p, ok := as[TextParam](parameter); ok {
			total += utf8.RuneCountInString(p.Text)
		}
	}
	if total > most {
		c.limit(path, fmt.Sprintf("want at most %d characters in all parameters together, got %d", most, total))
	}
}
