package chatapp2

// Template is a message whose text was approved in advance, with the values of its parameters. Only a template reaches a recipient who
// has not written within 24 hours. Its category (utility, authentication or marketing) is set when the template is approved, and decides
// how the service routes the message.
//
//	chatapp2.Template{Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana", "42")}}
type Template struct {
	Name string `at:"name,required,max=512,name"`
	// Language is the code of the template's language, such as "en" or "en_US".
	Language string `at:"language.code,required"`
	// Policy is "deterministic" or empty. Both mean the same: the platform uses exactly this language.
	Policy string `at:"language.policy,oneof=deterministic"`
	// Components holds the values of the parameters: each part at most once, and each button by its index. Nil means that the template
	// has no parameters.
	Components []Component `at:"components"`
}

func (t Template) check(c *checks) {
	checkComponents(c, "Components", t.Components, t.limits())
	var header, body nameCount
	headerIndex := 0
	for i, component := range t.Components {
		switch component := component.(type) { //nolint:gochecksumtype // only these have parameters with names
		case TemplateHeader:
			headerIndex = i
			header = countNames(component.Parameter)
		case TemplateBody:
			body = countNames(component...)
		}
	}
	onlyHeaderNamed := header.named > 0 && body.unnamed > 0
	onlyBodyNamed := header.unnamed > 0 && body.named > 0
	if onlyHeaderNamed || onlyBodyNamed {
		c.Add(element("Components", headerIndex)+".Parameter.Name", "want a name on every parameter of the template, or on none")
	}
}

// limits returns the limits for the components of this template.
func (t Template) limits() componentLimits {
	for _, component := range t.Components {
		if _, isOffer := component.(LimitedTimeOffer); isOffer {
			return componentLimits{bodyTexts: 600, couponCode: 15}
		}
	}
	if len(t.Components) == 1 {
		return componentLimits{bodyTexts: 32768, couponCode: 20}
	}
	return componentLimits{bodyTexts: 1024, couponCode: 20}
}
