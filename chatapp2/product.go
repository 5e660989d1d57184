package chatapp2

import "fmt"

// Product shows one product of a catalog. The Interactive takes no header, and the body is optional. It can also be the
// CardAction of a Card and, in the header of a template, a Parameter.
type Product struct {
	// CatalogID is the ID of the catalog on the platform. Required.
	CatalogID string `json:"catalog_id,omitzero"`
	// ProductRetailerID is the product's ID in the catalog. Required.
	ProductRetailerID string `json:"product_retailer_id,omitzero"`
}

func (Product) actionType() string { return actionProduct }

func (p Product) action() any { return p }

func (Product) needs() needs { return needs{header: headerNone, noBody: true} }

func (Product) cardType() string { return actionProduct }

func (p Product) cardAction() any { return p }

func (p Product) check(c *checks, path string) {
	c.required(path+".CatalogID", p.CatalogID, 0)
	c.required(path+".ProductRetailerID", p.ProductRetailerID, 0)
}

// ProductList shows several products of a catalog. The Interactive needs a HeaderText.
type ProductList struct {
	// CatalogID is the ID of the catalog on the platform. Required.
	CatalogID string `json:"catalog_id,omitzero"`
	// Sections is 1 to 10 sections, with at most 30 products in total.
	Sections []ProductSection `json:"sections,omitzero"`
}

// ProductSection is a part of a ProductList or a ProductsButton.
type ProductSection struct {
	// Title is at most 24 characters. Required if there is more than one section.
	Title string `json:"title,omitzero"`
	// Products is at least one product.
	Products []ProductItem `json:"product_items,omitzero"`
}

// ProductItem is a product in a ProductSection.
type ProductItem struct {
	// ProductRetailerID is the product's ID in the catalog. Required.
	ProductRetailerID string `json:"product_retailer_id,omitzero"`
}

func (ProductList) actionType() string { return actionProductList }

func (p ProductList) action() any { return p }

func (ProductList) needs() needs { return needs{header: headerTextRequired} }

func (p ProductList) check(c *checks, path string) {
	c.required(path+".CatalogID", p.CatalogID, 0)
	checkProductSections(c, path+".Sections", p.Sections)
}

func checkProductSections(c *checks, path string, sections []ProductSection) {
	c.count(path, "sections", len(sections), 1, 10)
	total := 0
	for i, section := range sections {
		own := at(path, i)
		checkSectionTitle(c, own+".Title", section.Title, len(sections))
		own += ".Products"
		if len(section.Products) == 0 {
			c.Found(own, "want at least one product, got none")
		}
		for j, product := range section.Products {
			c.required(at(own, j)+".ProductRetailerID", product.ProductRetailerID, 0)
		}
		total += len(section.Products)
	}
	if total > 30 {
		c.Limit(path, fmt.Sprintf("want at most 30 products in all sections together, got %d", total))
	}
}

// CatalogMessage is a button that opens the whole catalog. The Interactive takes no header.
type CatalogMessage struct {
	// ThumbnailProductRetailerID is the product whose image is shown. Empty is the first of the catalog.
	ThumbnailProductRetailerID string `json:"thumbnail_product_retailer_id,omitzero"`
}

func (CatalogMessage) actionType() string { return actionCatalog }

func (m CatalogMessage) action() any { return named[CatalogMessage]{actionCatalog, m} }

func (CatalogMessage) needs() needs { return needs{header: headerNone} }

func (CatalogMessage) check(*checks, string) {}
