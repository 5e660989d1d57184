package chatapp2

import (
	"sync"

	"github.com/messaging-service/messaging-go/internal/shape"
)

// compiled holds the shapes of all types. They are compiled at the first use. A variable of sync.OnceValue would be shorter, but it links
// all types of this package, about 165 KiB, into every program that sends an SMS.
var compiled struct { //nolint:gochecknoglobals // written once
	once   sync.Once
	shapes *shape.Shapes
}

func allShapes() *shape.Shapes {
	compiled.once.Do(func() { compiled.shapes = compileShapes() })
	return compiled.shapes
}

// isValue reports whether a sealed interface holds a value that can be sent.
func isValue(v any) bool { return allShapes().IsValue(v) }

// place says how an object holds a type of a sealed interface. Package shape documents its words and paths, and the paths of tags:
//
//	placeOf("type=image", "image!")                        {"type": "image", "image": {…}}
//	placeOf("type=text", "")                               {"type": "text", and the members of the value}
//	placeOf("type=carousel", "cards[each card_index=#].components")
//	                                                      {"type": "carousel", "cards": [{"card_index": 0, "components": […]}, …]}
//	namedAction("flow", "flow")                                 {"type": "flow", "action": {"name": "flow", "parameters": {…}}}
//	place{}                                               the raw type, which is the whole object
type place = shape.Place

func placeOf(words, path string) place { return place{Words: words, Path: path} }

func compileShapes() *shape.Shapes {
	s := shape.New(replyContext{}, storedFallback{}, Raw{}, MarketingOptions{})
	shape.AddUnion[Content](s, func(c Content) place { return placeOf("type="+c.kind(), c.kind()+"!") }, contents()...)
	shape.AddUnion[Action](s, Action.action,
		ReplyButtons{}, List{}, CTAURL{}, Flow{}, Product{}, ProductList{}, CatalogMessage{}, LocationRequest{}, ContactRequest{}, Carousel{},
		RawAction{})
	shape.AddUnion[Header](s, Header.header, HeaderText{}, Image{}, Video{}, Document{})
	shape.AddUnion[CardAction](s, CardAction.cardAction, CTAURL{}, ReplyButtons{}, Product{})
	shape.AddUnion[Component](s, Component.component,
		TemplateHeader{}, TemplateBody{}, TemplateCards{}, LimitedTimeOffer{}, QuickReplyButton{}, URLButton{}, CopyCodeButton{},
		CatalogButton{}, ProductsButton{}, FlowButton{}, RawComponent{})
	shape.AddUnion[Parameter](s, Parameter.parameter,
		TextParam{}, Currency{}, DateTime{}, Image{}, Video{}, Document{}, GIF{}, Location{}, Product{}, RawParameter{})
	return s
}
