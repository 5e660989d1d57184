package chatapp2

import (
	"maps"
	"slices"
	"strconv"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// AddressMessage asks the recipient for a postal address. The platform offers it in India alone. The Interactive takes any
// header.
type AddressMessage struct {
	// Country is a two-letter code: "IN". Required.
	Country string `json:"country,omitzero"`
	// Values fills in what is known. Optional.
	Values Address `json:"values,omitzero"`
	// ValidationErrors says what was wrong with an earlier answer: a text by the wire name of each field. Optional.
	ValidationErrors map[string]string `json:"validation_errors,omitzero"`
	// SavedAddresses are offered for choice. Optional.
	SavedAddresses []SavedAddress `json:"saved_addresses,omitzero"`
}

// SavedAddress is an address that the recipient can choose.
type SavedAddress struct {
	// ID comes back in the answer. Required.
	ID string `json:"id,omitzero"`
	// Value is the address.
	Value Address `json:"value,omitzero"`
}

// Address is a postal address in India. Each field is optional.
type Address struct {
	Name        string `json:"name,omitzero"`
	PhoneNumber string `json:"phone_number,omitzero"`
	// PINCode is the postal code, at most 6 characters.
	PINCode      string `json:"in_pin_code,omitzero"`
	HouseNumber  string `json:"house_number,omitzero"`
	FloorNumber  string `json:"floor_number,omitzero"`
	TowerNumber  string `json:"tower_number,omitzero"`
	BuildingName string `json:"building_name,omitzero"`
	Address      string `json:"address,omitzero"`
	LandmarkArea string `json:"landmark_area,omitzero"`
	City         string `json:"city,omitzero"`
	State        string `json:"state,omitzero"`
}

func (AddressMessage) interactive() (string, needs) { return actionAddress, needs{} }

func (m AddressMessage) action() any { return namedAction{Name: actionAddress, Parameters: m} }

func (m AddressMessage) check(c *checks, path string) {
	c.required(path+".Country", m.Country, 0)
	c.oneOf(path+".Country", m.Country, "IN")
	m.Values.check(c, path+".Values")
	for _, name := range slices.Sorted(maps.Keys(m.ValidationErrors)) {
		field := path + ".ValidationErrors[" + strconv.Quote(name) + "]"
		c.found(field, wire.CheckUTF8(name))
		c.text(field, m.ValidationErrors[name], 0)
	}
	for i, saved := range m.SavedAddresses {
		c.required(at(path+".SavedAddresses", i)+".ID", saved.ID, 0)
		saved.Value.check(c, at(path+".SavedAddresses", i)+".Value")
	}
	unique(c, m.SavedAddresses, func(one SavedAddress) string { return one.ID }, func(i int) string { return at(path+".SavedAddresses", i) + ".ID" })
}

func (a Address) check(c *checks, path string) {
	c.text(path+".Name", a.Name, 0)
	c.text(path+".PhoneNumber", a.PhoneNumber, 0)
	c.text(path+".PINCode", a.PINCode, 6)
	c.text(path+".HouseNumber", a.HouseNumber, 0)
	c.text(path+".FloorNumber", a.FloorNumber, 0)
	c.text(path+".TowerNumber", a.TowerNumber, 0)
	c.text(path+".BuildingName", a.BuildingName, 0)
	c.text(path+".Address", a.Address, 0)
	c.text(path+".LandmarkArea", a.LandmarkArea, 0)
	c.text(path+".City", a.City, 0)
	c.text(path+".State", a.State, 0)
}
