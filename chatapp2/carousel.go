package chatapp2

import (
	"fmt"
	"reflect"
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
	Index  int         `json:"card_index"`
	Type   string      `json:"type"`
	Header *headerJSON `json:"header,omitzero"`
	Body   textJSON    `json:"body,omitzero"`
	Action any         `json:"action,omitzero"`
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
		header, hf := card.Header.typed()
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
		if i == 0 {
			continue
		}
		checkMatching(c, at(path, i)+".Action", k.Cards[0].Action, card.Action)
		_, firstImage := k.Cards[0].Header.(Image)
		_, firstVideo := k.Cards[0].Header.(Video)
		_, image := card.Header.(Image)
		_, video := card.Header.(Video)
		if firstImage && video || firstVideo && image {
			c.Limit(at(path, i)+".Header", "must be of the same kind as on the first card")
		}
	}
}

func (k Card) check(c *checks, path string) {
	_, isProduct := k.Action.(Product)
	switch k.Header.(type) {
	case nil:
		if !isProduct {
			c.Found(path+".Header", "required, but nil; want an Image or a Video")
		}
	case Image, Video:
		if isProduct {
			c.Found(path+".Header", "must be nil on a card of a Product")
		}
	case HeaderText, Document:
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

// checkMatching compares the action of a card with the action of the first card.
func checkMatching(c *checks, path string, first, own CardAction) {
	if !isValue(first) || !isValue(own) {
		return
	}
	if reflect.TypeOf(first) != reflect.TypeOf(own) {
		c.Found(path, "must be of the same kind as on the first card")
		return
	}
	switch own := own.(type) {
	case CTAURL:
	case ReplyButtons:
		if n := len(first.(ReplyButtons)); n != len(own) {
			c.Found(path, fmt.Sprintf("want %d buttons as on the first card, got %d", n, len(own)))
		}
	case Product:
		if first.(Product).CatalogID != own.CatalogID {
			c.Found(path+".CatalogID", "must be the catalog of the first card")
		}
	}
}
