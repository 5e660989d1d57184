package chatapp2

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/shape"
)

// Carousel shows 2 to 10 cards side by side. All have the same kind and number of buttons; products are of one catalog. The
// Interactive takes no header and no footer.
type Carousel struct {
	Cards []Card `at:"cards[each card_index=#]!"`
}

// Card is a card of a Carousel.
type Card struct {
	// Header is an Image or a Video. Required, except on a card of a Product, which takes none.
	Header Header `at:"header"`
	// Body is at most 160 characters with at most 2 line breaks. Optional. A card of a Product takes none.
	Body string `at:"body.text,max=160"`
	// Action is what the card offers. Required.
	Action CardAction `at:"type&action,required"`
}

// CardAction is what a Card offers. It is one of CTAURL, ReplyButtons and Product: values of these types, not pointers.
//
//sumtype:decl
type CardAction interface{ cardAction() place }

func (CTAURL) cardAction() place  { return named("cta_url", "cta_url") }
func (Product) cardAction() place { return placed("type=product", "action!") }

// The platform documents the type of a link for buttons too.
func (ReplyButtons) cardAction() place {
	return placed("type=cta_url", "action!.buttons[each type=quick_reply]!.quick_reply!")
}

func (k Carousel) check(c *checks) {
	c.Count("Cards", "cards", len(k.Cards), 2, 10)
	for i, card := range k.Cards {
		first := k.Cards[0]
		if shape.IsValue(first.Action) && shape.IsValue(card.Action) && kindOf(first.Action) != kindOf(card.Action) {
			c.Found(fmt.Sprintf("Cards[%d].Action", i),
				"must be of the same kind as on the first card, with as many buttons, or of the same catalog")
		}
		if isImageOrVideo(first.Header) && isImageOrVideo(card.Header) && reflect.TypeOf(first.Header) != reflect.TypeOf(card.Header) {
			c.Limit(fmt.Sprintf("Cards[%d].Header", i), "must be of the same kind as on the first card")
		}
	}
}

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

func (k Card) check(c *checks) {
	_, isProduct := k.Action.(Product)
	switch {
	case !isProduct && k.Header == nil:
		c.Found("Header", "required, but nil; want an Image or a Video")
	case isProduct && shape.IsValue(k.Header):
		c.Found("Header", "must be nil on a card of a Product")
	case shape.IsValue(k.Header) && !isImageOrVideo(k.Header):
		c.Found("Header", "want an Image or a Video")
	}
	checkNoCaption(c, "Header", k.Header)
	if buttons, ok := k.Action.(ReplyButtons); ok && len(buttons) == 0 {
		c.Found("Action", "want at least one button, got none")
	}
	if isProduct && k.Body != "" {
		c.Found("Body", "must be empty on a card of a Product")
	}
	if n := strings.Count(k.Body, "\n"); n > 2 {
		c.Limit("Body", fmt.Sprintf("want at most 2 line breaks, got %d", n))
	}
}
