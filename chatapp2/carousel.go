package chatapp2

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Carousel shows 2 to 10 cards side by side. All have the same kind and number of buttons; products are of one catalog. The
// Interactive takes no header and no footer.
type Carousel struct {
	Cards []Card
}

// Card is a card of a Carousel.
type Card struct {
	// Header is an Image or a Video. Required, except on a card of a Product, which takes none.
	Header Header
	// Body is at most 160 characters with at most 2 line breaks. Optional. A card of a Product takes none.
	Body string `rule:"max=160"`
	// Action is what the card offers. Required.
	Action CardAction `rule:"required"`
}

// CardAction is what a Card offers. It is one of CTAURL, ReplyButtons and Product: values of these types, not pointers.
//
//sumtype:decl
type CardAction interface{ isCardAction() }

func (CTAURL) isCardAction()       {}
func (ReplyButtons) isCardAction() {}
func (Product) isCardAction()      {}

// carouselJSON is a Carousel in the platform's shape.
type carouselJSON struct {
	Cards []cardJSON `json:"cards"`
}

type cardJSON struct {
	Index  int            `json:"card_index"`
	Type   string         `json:"type"`
	Header *parameterJSON `json:"header,omitzero"`
	Body   textJSON       `json:"body,omitzero"`
	Action any            `json:"action,omitzero"`
}

func (k Carousel) shape() any {
	b := carouselJSON{make([]cardJSON, len(k.Cards))}
	for i, card := range k.Cards {
		b.Cards[i] = cardJSON{Index: i, Type: "cta_url", Header: headerShape(card.Header), Body: textJSON{card.Body}}
		switch action := card.Action.(type) {
		case CTAURL:
			b.Cards[i].Action = actionShape(action)
		case ReplyButtons: // of the same type, as the platform documents it
			b.Cards[i].Action = action.buttons(buttonCardReply)
		case Product:
			b.Cards[i].Type, b.Cards[i].Action = action.actionType(), action
		}
	}
	return b
}

func (k *Carousel) read(value any) fit {
	b, f := readAs[carouselJSON](value)
	k.Cards = make([]Card, len(b.Cards))
	for i, card := range b.Cards {
		header, hf := card.Header.asHeader()
		action, af := readCardAction(strings.ToLower(card.Type), card.Action)
		k.Cards[i] = Card{header, card.Body.Text, action}
		f = min(f, hf, af).exactIf(card.Index == i)
	}
	return f
}

func readCardAction(kind string, value any) (CardAction, fit) {
	object, _ := value.(map[string]any)
	switch {
	case kind == "product":
		return readAs[Product](value)
	case kind == "cta_url" && object["buttons"] != nil:
		return readButtons(value, buttonCardReply)
	case kind == "cta_url":
		action, f := readAction(kind, value)
		link, ok := action.(CTAURL)
		return link, f.exactIf(ok)
	default:
		return nil, misfit
	}
}

func (k Carousel) check(c *checks, path string) {
	path += ".Cards"
	c.count(path, "cards", len(k.Cards), 2, 10)
	for i, card := range k.Cards {
		first := k.Cards[0]
		if isValue(first.Action) && isValue(card.Action) && kindOf(first.Action) != kindOf(card.Action) {
			c.Found(at(path, i)+".Action", "must be of the same kind as on the first card, with as many buttons, or of the same catalog")
		}
		if isImageOrVideo(first.Header) && isImageOrVideo(card.Header) && reflect.TypeOf(first.Header) != reflect.TypeOf(card.Header) {
			c.Limit(at(path, i)+".Header", "must be of the same kind as on the first card")
		}
	}
}

// kindOf returns what all cards have in common.
func kindOf(action CardAction) string {
	switch action := action.(type) { //nolint:gochecksumtype // only these kinds are concerned
	case ReplyButtons:
		return strconv.Itoa(len(action)) + " buttons"
	case Product:
		return "a product of " + action.CatalogID
	default:
		return "a link"
	}
}

func isImageOrVideo(h Header) bool {
	switch h.(type) { //nolint:gochecksumtype // only these kinds are concerned
	case Image, Video:
		return true
	default:
		return false
	}
}

func (k Card) check(c *checks, path string) {
	_, isProduct := k.Action.(Product)
	switch {
	case !isProduct && k.Header == nil:
		c.Found(path+".Header", "required, but nil; want an Image or a Video")
	case isProduct && isValue(k.Header):
		c.Found(path+".Header", "must be nil on a card of a Product")
	case isValue(k.Header) && !isImageOrVideo(k.Header):
		c.Found(path+".Header", "want an Image or a Video")
	}
	checkNoCaption(c, path+".Header", k.Header)
	if buttons, ok := k.Action.(ReplyButtons); ok && len(buttons) == 0 {
		c.Found(path+".Action", "want at least one button, got none")
	}
	if isProduct && k.Body != "" {
		c.Found(path+".Body", "must be empty on a card of a Product")
	}
	if n := strings.Count(k.Body, "\n"); n > 2 {
		c.Limit(path+".Body", fmt.Sprintf("want at most 2 line breaks, got %d", n))
	}
}
