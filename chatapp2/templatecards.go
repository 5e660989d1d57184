package chatapp2

import (
	"fmt"
	"slices"

	"github.com/messaging-service/messaging-go/internal/shape"
)

// TemplateCards holds the values for the cards of a template's carousel, one for each approved card, at most 10, in the order
// of the template. All have the same kind of header. A body or a button without parameters is left out, so that cards may differ in these.
type TemplateCards []TemplateCard

// TemplateCard holds the values for a card: its header, body and buttons.
type TemplateCard []Component

func (k TemplateCards) check(c *checks) {
	least := 2
	if len(k) > 0 && k[0].mayBeProduct() {
		least = 1
	}
	c.Count("", "cards", len(k), least, 10)
	for i, card := range k {
		if raw := slices.ContainsFunc(k[0], isRaw) || slices.ContainsFunc(card, isRaw); !raw && k[0].header() != card.header() {
			c.Found(fmt.Sprintf("[%d]", i), "must have the same kind of header as the first card")
		}
	}
}

func (k TemplateCard) check(c *checks) {
	if len(k) == 0 {
		c.Found("", "want at least one component, got none")
	}
	checkComponents(c, "", k, componentLimits{body: 160, code: 20})
	for i, component := range k {
		if !shape.IsValue(component) {
			continue
		}
		switch partOf(component) {
		case "carousel", "limited_time_offer", "tap_target_configuration", "order_status":
			c.Found(fmt.Sprintf("[%d]", i), "must not be on a card")
		}
		if header, ok := component.(TemplateHeader); ok {
			switch header.Parameter.(type) { //nolint:gochecksumtype // only these kinds are concerned
			case TextParam, Document, GIF, Location:
				c.Found(fmt.Sprintf("[%d].Parameter", i), "want an Image, a Video or a Product in the header of a card")
			}
		}
	}
}

// mayBeProduct reports whether the card shows a product, or something unknown.
func (k TemplateCard) mayBeProduct() bool {
	return slices.ContainsFunc(k, func(component Component) bool {
		header, _ := component.(TemplateHeader)
		_, product := header.Parameter.(Product)
		return product || isRaw(component)
	})
}

func (k TemplateCard) header() string {
	for _, component := range k {
		if header, ok := component.(TemplateHeader); ok {
			return fmt.Sprintf("%T", header.Parameter)
		}
	}
	return ""
}

// isRaw reports whether it is unknown what a component is.
func isRaw(component Component) bool {
	header, _ := component.(TemplateHeader)
	_, isRawComponent := component.(RawComponent)
	_, isRawParameter := header.Parameter.(RawParameter)
	return isRawComponent || isRawParameter || !shape.IsValue(component)
}
