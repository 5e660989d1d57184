package chatapp2

import (
	"encoding/json"
	"fmt"

	"github.com/messaging-service/messaging-go/internal/shape"
)

// Action is what an Interactive offers. It is one of ReplyButtons, List, CTAURL, Flow, Product, ProductList, CatalogMessage,
// LocationRequest, ContactRequest, Carousel and RawAction. Pass values, not pointers.
//
//sumtype:decl
type Action interface{ action() place }

func (List) action() place   { return placeOf("type=list", "action!") }
func (CTAURL) action() place { return namedAction("cta_url", "cta_url") }
func (LocationRequest) action() place {
	return namedAction("location_request_message", "send_location")
}
func (Flow) action() place           { return namedAction("flow", "flow") }
func (Product) action() place        { return placeOf("type=product", "action!") }
func (ProductList) action() place    { return placeOf("type=product_list", "action!") }
func (CatalogMessage) action() place { return namedAction("catalog_message", "catalog_message") }
func (Carousel) action() place       { return placeOf("type=carousel", "action!") }
func (ContactRequest) action() place {
	return namedAction("request_contact_info", "request_contact_info")
}
func (RawAction) action() place { return place{} }

func (ReplyButtons) action() place {
	return placeOf("type=button", "action!.buttons[each type=reply]!.reply!")
}

// namedAction returns the place of an action that has a name, and its value in the member parameters.
func namedAction(kind, name string) place {
	return placeOf("type="+kind+" action.name="+name, "action!.parameters")
}

// RawAction is an action that no other type holds, such as an order or an address form. Type is the type of the Interactive. JSON is its
// member "action", sent as it is.
type RawAction struct {
	Type string          `at:"type,required"`
	JSON json.RawMessage `at:"action"`
}

func (a RawAction) check(c *checks) {
	shape.CheckRaw[Action](c, a.JSON, func(value any) any { return map[string]any{"type": a.Type, "action": value} })
}

// ReplyButtons is 1 to 3 buttons, one of which the recipient taps to reply. The Interactive takes any header. It can also be the
// CardAction of a Card.
type ReplyButtons []ReplyButton

// ReplyButton is a button that sends a reply.
type ReplyButton struct {
	// ID comes back in the reply. It is unique and has no white space around it.
	ID string `at:"id,required,max=256,trimmed,unique"`
	// Title is the label. It is unique.
	Title string `at:"title,required,max=20,unique"`
}

// CTAURL is a button that opens a web page. The Interactive takes any header. It can also be the CardAction of a Card.
type CTAURL struct {
	// DisplayText is the label of the button.
	DisplayText string `at:"display_text,required,max=20"`
	URL         string `at:"url,required,url"`
}

// LocationRequest asks the recipient for a location. The Interactive takes no header. The response is a location message that quotes this
// one.
type LocationRequest struct{}

// ContactRequest asks the recipient for their contact details. The response is a contacts message.
type ContactRequest struct{}

// List is a button that opens a list, from which the recipient chooses one row. The Interactive takes a HeaderText or no header, and its
// body may have 4096 characters.
type List struct {
	// Button is the label of the button.
	Button string `at:"button,required,max=20"`
	// Sections is 1 to 10 sections, with at most 10 rows in total.
	Sections []Section `at:"sections"`
}

// Section is a part of a List. It has 1 to 10 rows. If there is more than one section, each needs a title.
type Section struct {
	Title string `at:"title,max=24"`
	Rows  []Row  `at:"rows"`
}

// Row is a choice in a List.
type Row struct {
	// ID comes back in the reply. It is unique in its section.
	ID          string `at:"id,required,max=200,unique"`
	Title       string `at:"title,required,max=24"`
	Description string `at:"description,max=72"`
}

func (l List) check(c *checks) {
	c.Count("Sections", "sections", len(l.Sections), 1, 10)
	rows := 0
	for i, section := range l.Sections {
		path := element("Sections", i)
		if len(l.Sections) > 1 {
			c.Required(path+".Title", section.Title)
		}
		if len(section.Rows) == 0 {
			c.Add(path+".Rows", "required, but empty")
		}
		rows += len(section.Rows)
	}
	if rows > 10 {
		c.Limit("Sections", fmt.Sprintf("want at most 10 rows in all sections together, got %d", rows))
	}
}

// Flow is a button that opens a form of several screens. The Interactive takes any header. In a template, use FlowButton.
type Flow struct {
	// Version is the version of the message. Empty means "3", the only version.
	Version string `at:"flow_message_version,default=3,oneof=3"`
	// ID and Name identify the flow. Set exactly one of them.
	ID   string `at:"flow_id,notblank"`
	Name string `at:"flow_name,notblank"`
	// CTA is the label of the button, without emoji.
	CTA string `at:"flow_cta,required,max=30"`
	// Mode is FlowPublished if it is empty.
	Mode FlowMode `at:"mode,oneof=draft|published"`
	// Token comes back with the response. Empty means "unused".
	Token string `at:"flow_token"`
	// Action is FlowNavigate if it is empty.
	Action FlowAction `at:"flow_action,oneof=navigate|data_exchange"`
	// Screen is the ID of the first screen. Required if Data is set.
	Screen string `at:"flow_action_payload.screen"`
	// Data is passed to the first screen. It is a value that encodes as a non-empty JSON object, or the text of such an object.
	Data any `at:"flow_action_payload.data,object"`
}

// FlowMode says which version of a flow opens.
type FlowMode string

// The modes of a Flow.
const (
	FlowDraft     FlowMode = "draft"
	FlowPublished FlowMode = "published"
)

// FlowAction says what a flow does first.
type FlowAction string

// The actions of a Flow.
const (
	FlowNavigate     FlowAction = "navigate"
	FlowDataExchange FlowAction = "data_exchange"
)

func (f Flow) check(c *checks) {
	hasID, hasName := f.ID != "", f.Name != ""
	if hasID == hasName {
		c.Add("", "want exactly one of ID and Name")
	}
	if f.Data != nil {
		c.Required("Screen", f.Screen)
	}
}

// Product shows one product of a catalog. The Interactive takes no header, and its body is optional. It can also be the CardAction of a
// Card and, in the header of a template, a Parameter.
type Product struct {
	// CatalogID is the ID of the catalog on the platform.
	CatalogID string `at:"catalog_id,required"`
	// ProductRetailerID is the ID of the product in the catalog.
	ProductRetailerID string `at:"product_retailer_id,required"`
}

// ProductList shows the products of 1 to 10 sections, at most 30 in total. The Interactive needs a HeaderText.
type ProductList struct {
	CatalogID string           `at:"catalog_id,required"`
	Sections  []ProductSection `at:"sections"`
}

// ProductSection is a part of a ProductList or a ProductsButton. It has at least one product. If there is more than one section, each
// needs a title.
type ProductSection struct {
	Title    string        `at:"title,max=24"`
	Products []ProductItem `at:"product_items"`
}

// ProductItem is a product in a ProductSection.
type ProductItem struct {
	ProductRetailerID string `at:"product_retailer_id,required"`
}

func (p ProductList) check(c *checks) {
	checkProductSections(c, "Sections", p.Sections)
}

func checkProductSections(c *checks, name string, sections []ProductSection) {
	c.Count(name, "sections", len(sections), 1, 10)
	products := 0
	for i, section := range sections {
		path := element(name, i)
		if len(sections) > 1 {
			c.Required(path+".Title", section.Title)
		}
		if len(section.Products) == 0 {
			c.Add(path+".Products", "required, but empty")
		}
		products += len(section.Products)
	}
	if products > 30 {
		c.Limit(name, fmt.Sprintf("want at most 30 products in all sections together, got %d", products))
	}
}

// CatalogMessage is a button that opens the whole catalog. The Interactive takes no header. Without a thumbnail, the platform shows the
// first product.
type CatalogMessage struct {
	ThumbnailProductRetailerID string `at:"thumbnail_product_retailer_id"`
}
