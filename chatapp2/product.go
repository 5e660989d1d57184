package chatapp2

import "fmt"

// Product shows one product of a catalog. The Interactive takes no header, and the body is optional. It is also the CardAction
// of a Card and, in the header of a template, a Parameter.
type Product struct {
	// CatalogID is that of the catalog on the platform. Required.
	CatalogID string `json:"catalog_id,omitzero"`
	// ProductRetailerID is the product's ID in the catalog. Required.
	ProductRetailerID string `json:"product_retailer_id,omitzero"`
}

func (Product) interactive() (string, needs) {
	return actionProduct, needs{header: headerNone, noBody: true}
}

func (p Product) action() any { return p }

func (p Product) card() (string, any) { return actionProduct, p }

func (p Product) check(c *checks, path string) {
	c.required(path+".CatalogID", p.CatalogID, 0)
	c.required(path+".ProductRetailerID", p.ProductRetailerID, 0)
}

// ProductList shows several products of a catalog. The Interactive needs a HeaderText.
type ProductList struct {
	// CatalogID is that of the catalog on the platform. Required.
	CatalogID string `json:"catalog_id,omitzero"`
	// Sections is 1 to 10 sections, with at most 30 products in all of them together.
	Sections []ProductSection `json:"sections,omitzero"`
}

// ProductSection is a part of a ProductList or a ProductsButton.
type ProductSection struct {
	// Title is at most 24 characters. Required where there is more than one section.
	Title string `json:"title,omitzero"`
	// Products is at least one product.
	Products []ProductItem `json:"product_items,omitzero"`
}

// ProductItem is a product in a ProductSection.
type ProductItem struct {
	// ProductRetailerID is the product's ID in the catalog. Required.
	ProductRetailerID string `json:"product_retailer_id,omitzero"`
}

func (ProductList) interactive() (string, needs) {
	return actionProductList, needs{header: headerTextRequired}
}

func (p ProductList) action() any { return p }

func (p ProductList) check(c *checks, path string) {
	c.required(path+".CatalogID", p.CatalogID, 0)
	checkProductSections(c, path+".Sections", p.Sections)
}

func checkProductSections(c *checks, path string, sections []ProductSection) {
	c.count(path, "sections", len(sections), 1, 10)
	products := 0
	for i, section := range sections {
		checkSectionTitle(c, at(path, i)+".Title", section.Title, len(sections))
		products += len(section.Products)
		if len(section.Products) == 0 {
			c.found(at(path, i)+".Products", "want at least one product, got none")
		}
		for j, product := range section.Products {
			c.required(at(at(path, i)+".Products", j)+".ProductRetailerID", product.ProductRetailerID, 0)
		}
	}
	if products > 30 {
		c.limit(path, fmt.Sprintf("want at most 30 products in all sections together, got %d", products))
	}
}

// CatalogMessage is a button that opens the whole catalog. The Interactive takes no header.
type CatalogMessage struct {
	// ThumbnailProductRetailerID is the product whose image is shown. Empty is the first of the catalog.
	ThumbnailProductRetailerID string `json:"thumbnail_product_retailer_id,omitzero"`
}

func (CatalogMessage) interactive() (string, needs) {
	return actionCatalog, needs{header: headerNone}
}

func (m CatalogMessage) action() any {
	if m == (CatalogMessage{}) {
		return namedAction{Name: actionCatalog}
	}
	return namedAction{Name: actionCatalog, Parameters: m}
}

func (m CatalogMessage) check(c *checks, path string) {
	c.text(path+".ThumbnailProductRetailerID", m.ThumbnailProductRetailerID, 0)
}
