package chatapp2

// Contacts shows 1 to 257 contacts, which the recipient can save.
type Contacts []Contact

// Contact is a person or a company. Only Name is required. Birthday is a date such as "2012-08-18". The Type of an address and the like is
// any label, such as "HOME" or "WORK".
type Contact struct {
	Name      ContactName      `json:"name,omitzero"`
	Addresses []ContactAddress `json:"addresses,omitzero"`
	Birthday  string           `json:"birthday,omitzero" rule:"date"`
	Emails    []ContactEmail   `json:"emails,omitzero"`
	Org       ContactOrg       `json:"org,omitzero"`
	Phones    []ContactPhone   `json:"phones,omitzero"`
	URLs      []ContactURL     `json:"urls,omitzero"`
}

// ContactName is the name of a contact: FormattedName, which is shown, and at least one other field.
type ContactName struct {
	FormattedName string `json:"formatted_name,omitzero" rule:"required"`
	FirstName     string `json:"first_name,omitzero"`
	LastName      string `json:"last_name,omitzero"`
	MiddleName    string `json:"middle_name,omitzero"`
	Suffix        string `json:"suffix,omitzero"`
	Prefix        string `json:"prefix,omitzero"`
}

// ContactAddress is a postal address. CountryCode has two letters, such as "us".
type ContactAddress struct {
	Street      string `json:"street,omitzero"`
	City        string `json:"city,omitzero"`
	State       string `json:"state,omitzero"`
	Zip         string `json:"zip,omitzero"`
	Country     string `json:"country,omitzero"`
	CountryCode string `json:"country_code,omitzero"`
	Type        string `json:"type,omitzero"`
}

// ContactEmail is an e-mail address.
type ContactEmail struct {
	Email string `json:"email,omitzero"`
	Type  string `json:"type,omitzero"`
}

// ContactOrg is the place where a contact works.
type ContactOrg struct {
	Company    string `json:"company,omitzero"`
	Department string `json:"department,omitzero"`
	Title      string `json:"title,omitzero"`
}

// ContactPhone is a phone number, in any form.
type ContactPhone struct {
	Phone string `json:"phone,omitzero"`
	Type  string `json:"type,omitzero"`
	// ID is the platform's ID of the contact. With it, the recipient can message the contact, and otherwise invite them.
	ID string `json:"wa_id,omitzero"`
}

// ContactURL is a web address.
type ContactURL struct {
	URL  string `json:"url,omitzero"`
	Type string `json:"type,omitzero"`
}

func (k Contacts) shape() any { return append([]Contact{}, k...) }

func (k Contacts) check(c *checks, path string) {
	c.count(path, "contacts", len(k), 1, 257)
}

func (k ContactName) check(c *checks, path string) {
	if (k == ContactName{FormattedName: k.FormattedName}) {
		c.Limit(path, "want at least one field besides FormattedName")
	}
}
