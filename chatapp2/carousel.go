package chatapp2

import (
	"fmt"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Carousel shows 2 to 10 cards side by side. All of them have buttons of the same kind and number; product cards are of the same
// catalog. The Interactive takes no header and no footer.
type Carousel struct {
	Cards []Card
}

// Card is a card of a Carousel. Its index is its place in the list.
type Card struct {
	// Header is an Image or a Video. Required, except on a card of a Product, which takes none.
	Header Header
	// Body is at most 160 characters with at most 2 line breaks. Optional; a card of a Product takes none.
	Body string
	// Action is what the card offers. Required.
	Action CardAction

	read cardRead
}

// cardRead is what a card is that a body held, where its fields do not tell.
type cardRead struct {
	noIndex, noType, noName bool
	kind                    string // of a card that has no action
}

// CardAction is what a Card offers. It is one of CTAURL, ReplyButtons and Product, and nothing else can be one.
//
//sumtype:decl
type CardAction interface {
	// card is the type of the card, and the object under its key "action".
	card() (kind string, action any)
	check(c *checks, path string)
}

type cardsBody struct {
	Cards []cardBody `json:"cards,omitzero"`
}

type cardBody struct {
	Index  *int        `json:"card_index,omitzero"`
	Type   string      `json:"type,omitzero"`
	Header *headerBody `json:"header,omitzero"`
	Body   textBody    `json:"body,omitzero"`
	Action any         `json:"action,omitzero"`
}

func (Carousel) interactive() (string, needs) {
	return actionCarousel, needs{header: headerNone, noFooter: true}
}

func (k Carousel) action() any {
	b := cardsBody{Cards: make([]cardBody, len(k.Cards))}
	for i, card := range k.Cards {
		b.Cards[i] = cardBody{Header: headerOf(card.Header), Body: textBody{card.Body}}
		if !card.read.noIndex {
			b.Cards[i].Index = &i
		}
		if wire.IsNil(card.Action) {
			b.Cards[i].Type = card.read.kind
		} else {
			kind, action := card.Action.card()
			if !card.read.noType {
				b.Cards[i].Type = kind
			}
			b.Cards[i].Action = unnamed(action, card.read.noName)
		}
	}
	return b
}

func (a CTAURL) card() (string, any) { return actionCTAURL, a.action() }

func readCarousel(m *members) Carousel {
	list := m.list("cards")
	k := Carousel{Cards: make([]Card, len(list))}
	for i, value := range list {
		card := membersOf(value)
		_, hasIndex := card.left["card_index"]
		if !card.isIndex("card_index", i) {
			m.failed = true
		}
		header, ok := readHeader(card.take("header"))
		body := card.object("body")
		body.into("text", &k.Cards[i].Body)
		k.Cards[i].Header = header
		k.Cards[i].Action, k.Cards[i].read = readCardAction(card)
		k.Cards[i].read.noIndex = !hasIndex
		if !ok || !body.whole() || !card.whole() {
			m.failed = true
		}
	}
	return k
}

// readCardAction reads the type and the action of a card. Where the type is missing, the action tells it.
func readCardAction(m *members) (CardAction, cardRead) {
	kind, value := m.word("type"), m.take("action")
	if value == nil {
		return nil, cardRead{kind: kind}
	}
	action := membersOf(value)
	_, hasButtons := action.left["buttons"]
	_, hasName := action.left["name"]
	_, hasParameters := action.left["parameters"]
	read := cardRead{noType: kind == ""}
	var found CardAction
	switch {
	case kind != "" && kind != actionCTAURL && kind != actionProduct:
		m.failed = true
	case hasButtons && kind != actionProduct:
		found = readButtons(action, "quick_reply")
	case kind == actionCTAURL || kind == "" && (hasName || hasParameters):
		var link CTAURL
		read.noName = !hasName
		action.is("name", actionCTAURL)
		action.into("parameters", &link)
		found = link
	default:
		var product Product
		action.into("catalog_id", &product.CatalogID)
		action.into("product_retailer_id", &product.ProductRetailerID)
		found = product
	}
	if !action.whole() {
		m.failed = true
	}
	return found, read
}

// isIndex takes a member that is the place of its object in a list, or absent.
func (m *members) isIndex(name string, want int) bool {
	index := want
	m.into(name, &index)
	return index == want
}

func (k Carousel) check(c *checks, path string) {
	path += ".Cards"
	c.count(path, "cards", len(k.Cards), 2, 10)
	for i, card := range k.Cards {
		card.check(c, at(path, i))
		if first := k.Cards[0]; i > 0 {
			checkMatching(c, at(path, i)+".Action", first.Action, card.Action)
		}
	}
}

func (k Card) check(c *checks, path string) {
	if wire.IsNil(k.Action) {
		c.found(path+".Action", "required, but nil; want a CTAURL, ReplyButtons or a Product")
		return
	}
	if k.read.noIndex {
		c.found(path, "its card_index is required, but absent")
	}
	if k.read.noType {
		c.found(path, "its type is required, but absent")
	}
	if k.read.noName {
		c.found(path+".Action", "its name is required, but absent")
	}
	kind, _ := k.Action.card()
	product := kind == actionProduct
	header := headerOf(k.Header)
	switch {
	case product && header != nil:
		c.found(path+".Header", "must be nil on a card of a Product")
	case header == nil && k.Header != nil: // a nil pointer, of which checkHeader tells
	case !product && (header == nil || header.Image == nil && header.Video == nil):
		c.found(path+".Header", "want an Image or a Video")
	}
	checkHeader(c, path+".Header", k.Header)
	if product && k.Body != "" {
		c.found(path+".Body", "must be empty on a card of a Product")
	}
	c.text(path+".Body", k.Body, 160)
	if n := strings.Count(k.Body, "\n"); n > 2 {
		c.limit(path+".Body", fmt.Sprintf("want at most 2 line breaks, got %d", n))
	}
	if buttons, ok := as[ReplyButtons](k.Action); ok {
		if len(buttons) == 0 {
			c.found(path+".Action", "want at least one button, got none")
		}
		buttons.checkEach(c, path+".Action", 20)
		return
	}
	k.Action.check(c, path+".Action")
}

// checkMatching holds the action of a card against that of the first.
func checkMatching(c *checks, path string, first, own CardAction) {
	if wire.IsNil(first) || wire.IsNil(own) {
		return
	}
	firstKind, a := first.card()
	ownKind, b := own.card()
	firstButtons, firstHas := as[ReplyButtons](first)
	ownButtons, ownHas := as[ReplyButtons](own)
	switch {
	case firstKind != ownKind || firstHas != ownHas:
		c.found(path, "must be of the same kind as on the first card")
	case len(firstButtons) != len(ownButtons):
		c.found(path, fmt.Sprintf("want %d buttons as on the first card, got %d", len(firstButtons), len(ownButtons)))
	case ownKind == actionProduct && a.(Product).CatalogID != b.(Product).CatalogID: //nolint:forcetypeassert // by its kind
		c.found(path+".CatalogID", "must be that of the first card")
	}
}

// checkRawCards holds the cards of a carousel that stayed raw to what all have: an index of their own, and these members.
func checkRawCards(c *checks, path string, value any, required ...string) {
	cards := membersOf(value).list("cards")
	seen := map[int]bool{}
	for i, one := range cards {
		card := membersOf(one)
		index := -1
		card.into("card_index", &index)
		if card.failed || index < 0 || index > 9 || seen[index] {
			c.found(path, fmt.Sprintf("cards[%d]: want a card_index of its own, from 0 to 9", i))
		}
		seen[index] = true
		action := membersOf(card.left["action"])
		if action.failed {
			c.found(path, fmt.Sprintf("cards[%d]: want an object as the action", i))
		}
		checkRawButtons(c, path, action)
		checkRawHeader(c, path, card.object("header"))
		for _, name := range required {
			if card.left[name] == nil {
				c.found(path, fmt.Sprintf("cards[%d]: %s is required, but absent", i, name))
			}
		}
	}
}
