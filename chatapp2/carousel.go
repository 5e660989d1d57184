package chatapp2

import (
	"fmt"
	"strings"
)

// Carousel shows 2 to 10 cards side by side. All cards have the same kind and number of buttons, or products of the same catalog. The
// Interactive takes no header and no footer.
type Carousel struct {
	Cards []Card `at:"cards[each card_index=#]!"`
}

// Card is a card of a Carousel.
type Card struct {
	// Header is an Image or a Video. Required, except on a card with a Product, which takes no header.
	Header Header `at:"header"`
	// Body is at most 160 characters with at most 2 line breaks. Optional. A card with a Product takes no body.
	Body string `at:"body.text,max=160"`
	// Action is what the card offers. Required.
	Action CardAction `at:"type&action,required"`
}

// CardAction is what a Card offers. It is one of CTAURL, ReplyButtons and Product. Pass values, not pointers.
//
//sumtype:decl
type CardAction interface{ cardAction() place }

func (CTAURL) cardAction() place  { return namedAction("cta_url", "cta_url") }
func (Product) cardAction() place { return placeOf("type=product", "action!") }

// The platform documents the type cta_url for reply buttons too.
func (ReplyButtons) cardAction() place {
	return placeOf("type=cta_url", "action!.buttons[each type=quick_reply]!.quick_reply!")
}

func (k Carousel) check(c *checks) {
	c.Count("Cards", "cards", len(k.Cards), 2, 10)
	for i, card := range k.Cards {
		first := k.Cards[0]
		if !sameCardAction(first.Action, card.Action) {
			c.Add(element("Cards", i)+".Action",
				"must be of the same kind as on the first card, with as many buttons, or of the same catalog")
		}
		if !sameCardHeader(first.Header, card.Header) {
			c.Limit(element("Cards", i)+".Header", "must be of the same kind as on the first card")
		}
	}
}

// sameCardAction reports whether the cards of one carousel can have both actions. An action that is not a value is another problem.
func sameCardAction(first, second CardAction) bool {
	if !isValue(first) || !isValue(second) {
		return true
	}
	switch first := first.(type) {
	case CTAURL:
		_, isLink := second.(CTAURL)
		return isLink
	case ReplyButtons:
		buttons, isButtons := second.(ReplyButtons)
		return isButtons && len(first) == len(buttons)
	case Product:
		product, isProduct := second.(Product)
		return isProduct && first.CatalogID == product.CatalogID
	}
	return true
}

// sameCardHeader reports whether two headers are of the same kind. A header that no card takes is another problem.
func sameCardHeader(first, second Header) bool {
	if !isCardHeader(first) || !isCardHeader(second) {
		return true
	}
	_, isFirstImage := first.(Image)
	_, isSecondImage := second.(Image)
	return isFirstImage == isSecondImage
}

func isCardHeader(header Header) bool {
	switch header.(type) { //nolint:gochecksumtype // only these kinds are concerned
	case Image, Video:
		return true
	default:
		return false
	}
}

func (k Card) check(c *checks) {
	switch action := k.Action.(type) { //nolint:gochecksumtype // the rest is the same for the others
	case Product:
		k.checkProduct(c)
		return
	case ReplyButtons:
		if len(action) == 0 {
			c.Add("Action", "want at least one button, got none")
		}
	}
	switch {
	case k.Header == nil:
		c.Add("Header", "required, but nil; want an Image or a Video")
	case isValue(k.Header) && !isCardHeader(k.Header):
		c.Add("Header", "want an Image or a Video")
	}
	checkNoCaption(c, "Header", k.Header)
	if n := strings.Count(k.Body, "\n"); n > 2 {
		c.Limit("Body", fmt.Sprintf("want at most 2 line breaks, got %d", n))
	}
}

// checkProduct checks a card with a Product, which has nothing else.
func (k Card) checkProduct(c *checks) {
	if isValue(k.Header) {
		c.Add("Header", "must be nil on a card of a Product")
	}
	if k.Body != "" {
		c.Add("Body", "must be empty on a card of a Product")
	}
}
