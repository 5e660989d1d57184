package chatapp2

import (
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Contacts shows 1 to 257 contacts, which the recipient can save.
type Contacts []Contact

// Contact is a person or a company. Name is required, the rest optional.
type Contact struct {
	Name      ContactName      `json:"name,omitzero"`
	Addresses []ContactAddress `json:"addresses,omitzero"`
	// Birthday is a date such as "2012-08-18".
	Birthday string         `json:"birthday,omitzero"`
	Emails   []ContactEmail `json:"emails,omitzero"`
	Org      ContactOrg     `json:"org,omitzero"`
	Phones   []ContactPhone `json:"phones,omitzero"`
	URLs     []ContactURL   `json:"urls,omitzero"`
}

// ContactName is a contact's name: FormattedName is required, and at least one of the others.
type ContactName struct {
	// FormattedName is the whole name as it is shown.
	FormattedName string `json:"formatted_name,omitzero"`
	FirstName     string `json:"first_name,omitzero"`
	LastName      string `json:"last_name,omitzero"`
	MiddleName    string `json:"middle_name,omitzero"`
	Suffix        string `json:"suffix,omitzero"`
	Prefix        string `json:"prefix,omitzero"`
}

// ContactAddress is a postal address.
type ContactAddress struct {
	Street  string `json:"street,omitzero"`
	City    string `json:"city,omitzero"`
	State   string `json:"state,omitzero"`
	Zip     string `json:"zip,omitzero"`
	Country string `json:"country,omitzero"`
	// CountryCode is a two-letter code, such as "us".
	CountryCode string `json:"country_code,omitzero"`
	// Type is a label such as "HOME" or "WORK"; any text.
	Type string `json:"type,omitzero"`
}

// ContactEmail is an e-mail address.
type ContactEmail struct {
	Email string `json:"email,omitzero"`
	// Type is a label such as "HOME" or "WORK"; any text.
	Type string `json:"type,omitzero"`
}

// ContactOrg is where a contact works.
type ContactOrg struct {
	Company    string `json:"company,omitzero"`
	Department string `json:"department,omitzero"`
	Title      string `json:"title,omitzero"`
}

// ContactPhone is a telephone number, in any form.
type ContactPhone struct {
	Phone string `json:"phone,omitzero"`
	// Type is a label such as "HOME" or "WORK"; any text.
	Type string `json:"type,omitzero"`
	// ID is the platform's own ID of the contact (wa_id). With it the recipient gets a button to write to the contact, else one
	// to invite it.
	ID string `json:"wa_id,omitzero"`
}

// ContactURL is a web address.
type ContactURL struct {
	URL string `json:"url,omitzero"`
	// Type is a label such as "HOME" or "WORK"; any text.
	Type string `json:"type,omitzero"`
}

func (Contacts) kind() string { return typeContacts }

func (k Contacts) content() any {
	if k == nil {
		return []Contact{}
	}
	return []Contact(k)
}

func (k Contacts) check(c *checks, path string) {
	c.count(path, "contacts", len(k), 1, 257)
	for i, contact := range k {
		contact.check(c, at(path, i))
	}
}

func (k Contact) check(c *checks, path string) {
	n := k.Name
	c.required(path+".Name.FormattedName", n.FormattedName, 0)
	if n.FirstName+n.LastName+n.MiddleName+n.Suffix+n.Prefix == "" {
		c.limit(path+".Name", "want at least one field besides FormattedName")
	}
	if k.Birthday != "" {
		if _, err := time.Parse(time.DateOnly, k.Birthday); err != nil {
			c.limit(path+".Birthday", "want a date as YYYY-MM-DD")
		}
	}
	// What is left are texts without a limit, which must be texts all the same.
	for field, value := range k.texts {
		c.found(path+"."+field, wire.CheckUTF8(value))
	}
}

// texts gives every text of a contact by its path.
func (k Contact) texts(yield func(path, value string) bool) {
	n, o := k.Name, k.Org
	more := true
	give := func(path, value string) { more = more && yield(path, value) }
	give("Name.FirstName", n.FirstName)
	give("Name.LastName", n.LastName)
	give("Name.MiddleName", n.MiddleName)
	give("Name.Suffix", n.Suffix)
	give("Name.Prefix", n.Prefix)
	give("Birthday", k.Birthday)
	give("Org.Company", o.Company)
	give("Org.Department", o.Department)
	give("Org.Title", o.Title)
	for i, a := range k.Addresses {
		p := fmt.Sprintf("Addresses[%d].", i)
		give(p+"Street", a.Street)
		give(p+"City", a.City)
		give(p+"State", a.State)
		give(p+"Zip", a.Zip)
		give(p+"Country", a.Country)
		give(p+"CountryCode", a.CountryCode)
		give(p+"Type", a.Type)
	}
	for i, e := range k.Emails {
		give(fmt.Sprintf("Emails[%d].Email", i), e.Email)
		give(fmt.Sprintf("Emails[%d].Type", i), e.Type)
	}
	for i, p := range k.Phones {
		give(fmt.Sprintf("Phones[%d].Phone", i), p.Phone)
		give(fmt.Sprintf("Phones[%d].Type", i), p.Type)
		give(fmt.Sprintf("Phones[%d].ID", i), p.ID)
	}
	for i, u := range k.URLs {
		give(fmt.Sprintf("URLs[%d].URL", i), u.URL)
		give(fmt.Sprintf("URLs[%d].Type", i), u.Type)
	}
}
