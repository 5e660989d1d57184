package chatapp2

// AddressMessage asks the recipient for a postal address, in India (Country "IN"). Values fills in what is known. The recipient can
// choose one of SavedAddresses. The Interactive takes any header.
type AddressMessage struct {
	Country string  `json:"country,omitzero" rule:"required,oneof=IN"`
	Values  Address `json:"values,omitzero"`
	// ValidationErrors says what was wrong with an earlier response, by the wire name of each field.
	ValidationErrors map[string]string `json:"validation_errors,omitzero"`
	SavedAddresses   []SavedAddress    `json:"saved_addresses,omitzero"`
}

// SavedAddress is an address that the recipient can choose.
type SavedAddress struct {
	// ID comes back in the response. It is unique.
	ID    string  `json:"id,omitzero" rule:"required"`
	Value Address `json:"value,omitzero"`
}

// Address is a postal address in India. PINCode is the postal code.
type Address struct {
	Name         string `json:"name,omitzero"`
	PhoneNumber  string `json:"phone_number,omitzero"`
	PINCode      string `json:"in_pin_code,omitzero" rule:"max=6"`
	HouseNumber  string `json:"house_number,omitzero"`
	FloorNumber  string `json:"floor_number,omitzero"`
	TowerNumber  string `json:"tower_number,omitzero"`
	BuildingName string `json:"building_name,omitzero"`
	Address      string `json:"address,omitzero"`
	LandmarkArea string `json:"landmark_area,omitzero"`
	City         string `json:"city,omitzero"`
	State        string `json:"state,omitzero"`
}

func (m AddressMessage) check(c *checks, path string) {
	unique(c, path+".SavedAddresses", ".ID", m.SavedAddresses, func(one SavedAddress) string { return one.ID })
}
