package chatapp2

import "fmt"

// Template is a message whose text was approved in advance, with the values of its parameters. Only a template reaches a
// recipient who has not written within 24 hours. Its category (utility, authentication or marketing) is a property of the
// template and determines how the service routes the message.
//
//	chatapp2.Template{Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana", "42")}}
type Template struct {
	Name string `at:"name,required,max=512,name"`
	// Language is the code of its language, such as "en" or "en_US".
	Language string `at:"language.code,required"`
	// Policy is LanguageDeterministic, or empty, which means the same.
	Policy LanguagePolicy `at:"language.policy,oneof=deterministic"`
	// Components holds the values of the parameters: each part at most once, each button by its index. Nil if the template has
	// no parameters.
	Components []Component `at:"components"`
}

// LanguagePolicy says how the language of a Template is chosen.
type LanguagePolicy string

// LanguageDeterministic sends exactly the language that the Template names.
const LanguageDeterministic LanguagePolicy = "deterministic"

func (t Template) check(c *checks) {
	const name = "Components"
	most := componentLimits{body: 1024, code: 20}
	if len(t.Components) == 1 {
		most.body = 32768
	}
	var headNamed, headUnnamed, bodyNamed, bodyUnnamed int
	header := -1
	for i, component := range t.Components {
		switch component := component.(type) { //nolint:gochecksumtype // only these kinds are concerned
		case TemplateHeader:
			header = i
			headNamed, headUnnamed = countNames(component.Parameter)
		case TemplateBody:
			bodyNamed, bodyUnnamed = countNames(component...)
		case LimitedTimeOffer:
			most = componentLimits{body: 600, code: 15}
		}
	}
	checkComponents(c, name, t.Components, most)
	if header >= 0 && (headNamed > 0 && bodyUnnamed > 0 || headUnnamed > 0 && bodyNamed > 0) {
		c.Found(fmt.Sprintf("%s[%d].Parameter.Name", name, header), "want a name on every parameter of the template, or on none")
	}
}
