package chatapp2

// Product shows one product of a catalog. The Interactive takes no header, and the body is optional. It can also be the
// CardAction of a Card and, in the header of a template, a Parameter. The IDs are of the catalog on the platform and of the product in it.
type Product struct {
	CatalogID         string `at:"catalog_id,required"`
	ProductRetailerID string `at:"product_retailer_id,required"`
}

// ProductList shows the products of 1 to 10 sections, at most 30 in total. The Interactive needs a HeaderText.
type ProductList struct {
	CatalogID string           `at:"catalog_id,required"`
	Sections  []ProductSection `at:"sections"`
}

// ProductSection is a part of a ProductList or a ProductsButton. Its title is required if there is more than one section, and it has
// at least one product.
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
	checkSections(c, name, "Products", 30, sections, func(s ProductSection) (string, int) { return s.Title, len(s.Products) })
}

// CatalogMessage is a button that opens the whole catalog. The Interactive takes no header. Without a thumbnail, the first product of the
// catalog is shown.
type CatalogMessage struct {
	ThumbnailProductRetailerID string `at:"thumbnail_product_retailer_id"`
}
