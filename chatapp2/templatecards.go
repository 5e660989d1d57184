package chatapp2

import (
	"fmt"
	"reflect"
	"slices"
)

// TemplateCards holds the values for the cards of a template's carousel, one for each approved card, at most 10, in the order
// of the template.
type TemplateCards []TemplateCard

// TemplateCard holds the values for a card: its header, body and buttons.
type TemplateCard []Component

func (k TemplateCards) checkCards(c *checks, path string) {
	least := 2
	if len(k) > 0 && k[0].mayBeProduct() {
		least = 1
	}
	c.count(path, "cards", len(k), least, 10)
	for i, card := range k {
		if len(card) == 0 {
			c.Found(at(path, i), "want at least one component, got none")
		}
		checkComponents(c, at(path, i), card, 160)
		for j, component := range card {
			checkOnCard(c, at(at(path, i), j), component)
		}
		if i > 0 && !k[0].matches(card) {
			c.Found(at(path, i), "must have the same parts as the first card, with the same kinds of headers and buttons")
		}
	}
}

// checkOnCard rejects what a card cannot have.
func checkOnCard(c *checks, path string, component Component) {
	if !isValue(component) {
		return
	}
	switch component.part() {
	case componentCards, componentOffer, componentTapTarget, componentOrderStatus:
		c.Found(path, "must not be on a card")
	}
	if header, ok := component.(TemplateHeader); ok {
		switch header.Parameter.(type) {
		case TextParam, Document, GIF, Location:
			c.Found(path+".Parameter", "want an Image, a Video or a Product in the header of a card")
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

// matches reports whether two cards have the same parts, as far as is known.
func (k TemplateCard) matches(other TemplateCard) bool {
	if slices.ContainsFunc(k, isRaw) || slices.ContainsFunc(other, isRaw) {
		return true
	}
	kinds := func(card TemplateCard) []string {
		all := make([]string, len(card))
		for i, component := range card {
			all[i] = cardKind(component)
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(kinds(k), kinds(other))
}

// cardKind names the kind of a component for the comparison of cards, such as the medium of a header.
func cardKind(component Component) string {
	kind := fmt.Sprintf("%s %T", component.part(), component)
	if header, ok := component.(TemplateHeader); ok {
		kind += fmt.Sprint(reflect.TypeOf(header.Parameter))
	}
	return kind
}

// isRaw reports whether it is unknown what a component is.
func isRaw(component Component) bool {
	switch component := component.(type) {
	case RawComponent:
		return true
	case TemplateHeader:
		_, raw := component.Parameter.(RawParameter)
		return raw
	default:
		return !isValue(component)
	}
}
