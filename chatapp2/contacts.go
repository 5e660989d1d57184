package chatapp2

// Contacts shows 1 to 257 contacts, which the recipient can save.
type Contacts []Contact

// Contact is a person or a company. Only Name is required. Birthday is a date such as "2012-08-18". The Type of an address and the like is
// any label, such as "HOME" or "WORK".
type Contact struct {
	Name      ContactName      `at:"name"`
	Addresses []ContactAddress `at:"addresses"`
	Birthday  string           `at:"birthday,date"`
	Emails    []ContactEmail   `at:"emails"`
	Org       ContactOrg       `at:"org"`
	Phones    []ContactPhone   `at:"phones"`
	URLs      []ContactURL     `at:"urls"`
}

// ContactName is the name of a contact: FormattedName, which is shown, and at least one other field.
type ContactName struct {
	FormattedName string `at:"formatted_name,required"`
	FirstName     string `at:"first_name"`
	LastName      string `at:"last_name"`
	MiddleName    string `at:"middle_name"`
	Suffix        string `at:"suffix"`
	Prefix        string `at:"prefix"`
}

// ContactAddress is a postal address. CountryCode has two letters, such as "us".
type ContactAddress struct {
	Street      string `at:"street"`
	City        string `at:"city"`
	State       string `at:"state"`
	Zip         string `at:"zip"`
	Country     string `at:"country"`
	CountryCode string `at:"country_code"`
	Type        string `at:"type"`
}

// ContactEmail is an e-mail address.
type ContactEmail struct {
	Email string `at:"email"`
	Type  string `at:"type"`
}

// ContactOrg is the place where a contact works.
type ContactOrg struct {
	Company    string `at:"company"`
	Department string `at:"department"`
	Title      string `at:"title"`
}

// ContactPhone is a phone number, in any form.
type ContactPhone struct {
	Phone string `at:"phone"`
	Type  string `at:"type"`
	// ID is the platform's ID of the contact. With it, the recipient can message the contact, and otherwise invite them.
	ID string `at:"wa_id"`
}

// ContactURL is a web address.
type ContactURL struct {
	URL  string `at:"url"`
	Type string `at:"type"`
}

func (k Contacts) check(c *checks) {
	c.Count("", "contacts", len(k), 1, 257)
}

func (k ContactName) check(c *checks) {
	if (k == ContactName{FormattedName: k.FormattedName}) {
		c.Limit("", "want at least one field besides FormattedName")
	}
}
