package chatapp2

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// componentJSON is a component in the platform's shape. Its parameters are of the type parameterJSON in a header and a body, and
// settingJSON elsewhere.
type componentJSON struct {
	Type       string `json:"type"`
	SubType    string `json:"sub_type,omitzero"`
	Index      *int   `json:"index,omitzero"`
	Parameters []any  `json:"parameters,omitzero"`
	Cards      []any  `json:"cards,omitzero"`
}

type templateCardJSON struct {
	Index      int   `json:"card_index"`
	Components []any `json:"components,omitzero"`
}

// settingJSON is a parameter of a button, or of a component that has only one. Type names the member that holds it.
type settingJSON struct {
	Type               string            `json:"type"`
	Text               string            `json:"text,omitzero"`
	PaymentLinkPreview bool              `json:"payment_link_preview,omitzero"`
	Payload            string            `json:"payload,omitzero"`
	CouponCode         string            `json:"coupon_code,omitzero"`
	TTLMinutes         float64           `json:"ttl_minutes,omitzero"`
	Action             *buttonActionJSON `json:"action,omitzero"`
	Offer              *offerJSON        `json:"limited_time_offer,omitzero"`
	TapTarget          []TapTarget       `json:"tap_target_configuration,omitzero"`
	OrderStatus        *orderStatusJSON  `json:"order_status,omitzero"`
}

type buttonActionJSON struct {
	Thumbnail    string           `json:"thumbnail_product_retailer_id,omitzero"`
	Sections     []ProductSection `json:"sections,omitzero"`
	FlowToken    string           `json:"flow_token,omitzero"`
	FlowData     any              `json:"flow_action_data,omitzero"`
	OrderDetails *OrderDetails    `json:"order_details,omitzero"`
}

type offerJSON struct {
	ExpirationTimeMS int64 `json:"expiration_time_ms,omitzero"`
}

func componentShapes(components []Component) []any { return each(components, componentShape) }

// componentShape returns a component in the platform's shape.
func componentShape(component Component) any {
	switch k := component.(type) {
	case TemplateHeader:
		if k.Parameter == nil {
			return componentJSON{Type: "header"}
		}
		return componentJSON{Type: "header", Parameters: parameterShapes([]Parameter{k.Parameter})}
	case TemplateBody:
		return componentJSON{Type: "body", Parameters: parameterShapes(k)}
	case TemplateCards:
		cards := make([]any, len(k))
		for i, card := range k {
			cards[i] = templateCardJSON{i, componentShapes(card)}
		}
		return componentJSON{Type: "carousel", Cards: cards}
	case LimitedTimeOffer:
		return single(settingJSON{Type: "limited_time_offer", Offer: &offerJSON{unix(k.ExpiresAt, time.Time.UnixMilli)}})
	case TapTarget:
		return single(settingJSON{Type: "tap_target_configuration", TapTarget: []TapTarget{k}})
	case TemplateOrderStatus:
		status := &orderStatusJSON{ReferenceID: k.ReferenceID, Order: orderStateJSON{k.Status, k.Description}}
		return single(settingJSON{Type: "order_status", OrderStatus: status})
	case QuickReplyButton:
		text := settingJSON{Type: "text", Text: k.Text}
		return buttonShape("quick_reply", k.Index, text, settingJSON{Type: "payload", Payload: k.Payload})
	case URLButton:
		return buttonShape("url", k.Index, settingJSON{Type: "text", Text: k.Suffix, PaymentLinkPreview: k.PaymentLinkPreview})
	case CopyCodeButton:
		return buttonShape("copy_code", k.Index, settingJSON{Type: "coupon_code", CouponCode: k.Code})
	case CatalogButton:
		return buttonShape("catalog", k.Index, buttonActionJSON{Thumbnail: k.ThumbnailProductRetailerID}.setting())
	case ProductsButton:
		return buttonShape("mpm", k.Index, buttonActionJSON{Thumbnail: k.ThumbnailProductRetailerID, Sections: k.Sections}.setting())
	case FlowButton:
		return buttonShape("flow", k.Index, buttonActionJSON{FlowToken: k.Token, FlowData: k.Data}.setting())
	case VoiceCallButton:
		ttl := settingJSON{Type: "ttl_minutes", TTLMinutes: k.TTL.Minutes()}
		return buttonShape("voice_call", k.Index, ttl, settingJSON{Type: "payload", Payload: k.Payload})
	case OrderDetailsButton:
		return buttonShape("order_details", k.Index, buttonActionJSON{OrderDetails: &k.Details}.setting())
	case RawComponent:
		return k.JSON
	default:
		return nil
	}
}

// single returns a component of the type of its only parameter.
func single(setting settingJSON) componentJSON {
	return componentJSON{Type: setting.Type, Parameters: []any{setting}}
}

// buttonShape returns a button in the platform's shape, with the settings that have a value.
func buttonShape(subType string, index int, settings ...settingJSON) componentJSON {
	button := componentJSON{Type: "button", SubType: subType, Index: &index}
	for _, setting := range settings {
		if !reflect.DeepEqual(setting, settingJSON{Type: setting.Type}) {
			button.Parameters = append(button.Parameters, setting)
		}
	}
	return button
}

func (b buttonActionJSON) setting() settingJSON {
	if reflect.ValueOf(b).IsZero() {
		return settingJSON{Type: "action"}
	}
	return settingJSON{Type: "action", Action: &b}
}

func decodeComponents(values []any, onCard bool) []Component {
	return each(values, func(value any) Component { return decodeComponent(value, onCard) })
}

// decodeComponent returns a component, typed if a type holds all of it.
func decodeComponent(value any, onCard bool) Component {
	if component, f := readComponent(value, onCard); f == exact {
		return component
	}
	return RawComponent{JSON: rawOf(value)}
}

// readComponent returns nil if the type is not known. It holds what it has read against how the component is written.
func readComponent(value any, onCard bool) (Component, fit) {
	b, f := readAs[componentJSON](value)
	b.Type, b.SubType = strings.ToLower(b.Type), strings.ToLower(b.SubType)
	var component Component
	switch b.Type {
	case "header":
		parameters := decodeParameters(b.Parameters)
		component, b.Parameters = TemplateHeader{}, parameterShapes(parameters)
		if len(parameters) == 1 {
			component = TemplateHeader{Parameter: parameters[0]}
		}
	case "body":
		parameters := decodeParameters(b.Parameters)
		component, b.Parameters = TemplateBody(parameters), parameterShapes(parameters)
	case "carousel":
		if onCard { // nothing goes deeper
			return nil, misfit
		}
		cards := make(TemplateCards, len(b.Cards))
		for i, value := range b.Cards {
			card, cf := readAs[templateCardJSON](value)
			cards[i] = decodeComponents(card.Components, true)
			card.Components = componentShapes(cards[i])
			b.Cards[i], f = card, min(f, cf)
		}
		component = cards
	default:
		setting, settings, sf := readSettings(b.Parameters)
		b.Parameters, f = settings, min(f, sf)
		if b.SubType == "voice_call" && b.Index == nil { // as in the platform's own example
			b.Index = new(int)
		}
		component = b.withSetting(setting)
	}
	if component == nil {
		return nil, misfit
	}
	return component, f.exactIf(reflect.DeepEqual(componentShape(component), b))
}

// readSettings reads settings: what they hold together, and each of them, in the order in which they are written.
func readSettings(values []any) (all settingJSON, each []any, f fit) {
	f = exact
	for _, value := range values {
		setting, sf := readAs[settingJSON](value)
		setting.Type = strings.ToLower(setting.Type)
		each, f = append(each, setting), min(f, sf, read(value, &all))
	}
	slices.SortStableFunc(each, func(a, b any) int { return strings.Compare(b.(settingJSON).Type, a.(settingJSON).Type) })
	return all, each, f
}

// withSetting returns the component that has this setting, nil if the type or sub-type is not known.
func (b componentJSON) withSetting(setting settingJSON) Component {
	index, action := valueOf(b.Index), valueOf(setting.Action)
	switch strings.TrimSpace(b.Type + " " + b.SubType) {
	case "limited_time_offer":
		return LimitedTimeOffer{fromUnix(valueOf(setting.Offer).ExpirationTimeMS, time.UnixMilli)}
	case "tap_target_configuration":
		if len(setting.TapTarget) == 0 {
			return TapTarget{}
		}
		return setting.TapTarget[0]
	case "order_status":
		status := valueOf(setting.OrderStatus)
		return TemplateOrderStatus{status.ReferenceID, status.Order.Status, status.Order.Description}
	case "button": // which fits nothing: a button has a sub_type
		return RawComponent{}
	case "button quick_reply":
		return QuickReplyButton{index, setting.Payload, setting.Text}
	case "button url":
		return URLButton{index, setting.Text, setting.PaymentLinkPreview}
	case "button copy_code":
		return CopyCodeButton{index, setting.CouponCode}
	case "button catalog":
		return CatalogButton{index, action.Thumbnail}
	case "button mpm":
		return ProductsButton{index, action.Thumbnail, action.Sections}
	case "button flow":
		return FlowButton{index, action.FlowToken, action.FlowData}
	case "button voice_call":
		return VoiceCallButton{index, fromMinutes(setting.TTLMinutes), setting.Payload}
	case "button order_details":
		return OrderDetailsButton{index, valueOf(action.OrderDetails)}
	default:
		return nil
	}
}
