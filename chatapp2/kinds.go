package chatapp2

import (
	"sync"

	"github.com/messaging-service/messaging-go/internal/shape"
)

// compiled is compiled when it is first used. A variable of sync.OnceValue would link this whole package into every program that
// sends an SMS.
var compiled struct { //nolint:gochecknoglobals // written once
	once   sync.Once
	shapes *shape.Shapes
}

func allShapes() *shape.Shapes {
	compiled.once.Do(func() { compiled.shapes = compileShapes() })
	return compiled.shapes
}

// place says by which words an object is recognised as a type of a sealed interface, and where in the object its value stands.
type place = shape.Place

func placed(words, path string) place { return place{Words: words, Path: path} }

func compileShapes() *shape.Shapes {
	s := shape.New(replyContext{}, storedFallback{}, Raw{})
	shape.AddUnion[Content](s, func(c Content) place { return placed("type="+c.kind(), c.kind()+"!") }, contents()...)
	shape.AddUnion[Action](s, Action.action,
		ReplyButtons{}, List{}, CTAURL{}, LocationRequest{}, Flow{}, Product{}, ProductList{}, CatalogMessage{}, AddressMessage{},
		VoiceCall{}, CallPermissionRequest{}, Carousel{}, OrderDetails{}, OrderStatus{}, ContactRequest{}, RawAction{})
	shape.AddUnion[Header](s, Header.header, HeaderText{}, Image{}, Video{}, Document{})
	shape.AddUnion[CardAction](s, CardAction.cardAction, CTAURL{}, ReplyButtons{}, Product{})
	shape.AddUnion[Component](s, Component.component,
		TemplateHeader{}, TemplateBody{}, TemplateCards{}, LimitedTimeOffer{}, TapTarget{}, TemplateOrderStatus{}, QuickReplyButton{},
		URLButton{}, CopyCodeButton{}, CatalogButton{}, ProductsButton{}, FlowButton{}, VoiceCallButton{}, OrderDetailsButton{},
		RawComponent{})
	shape.AddUnion[Parameter](s, Parameter.parameter,
		TextParam{}, Currency{}, DateTime{}, Image{}, Video{}, Document{}, GIF{}, Location{}, Product{}, RawParameter{})
	return s
}
