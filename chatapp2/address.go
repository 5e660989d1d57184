package chatapp2

// AddressMessage asks the recipient for a postal address, in India (Country "IN"). Values fills in what is known. The recipient can
// choose one of SavedAddresses. The Interactive takes any header.
type AddressMessage struct {
	Country string  `at:"country,required,oneof=IN"`
	Values  Address `at:"values"`
	// ValidationErrors says what was wrong with an earlier response, by the wire name of each field.
	ValidationErrors map[string]string `at:"validation_errors"`
	SavedAddresses   []SavedAddress    `at:"saved_addresses"`
}

// SavedAddress is an address that the recipient can choose.
type SavedAddress struct {
	// ID comes back in the response. It is unique.
	ID    string  `at:"id,required,unique"`
	Value Address `at:"value"`
}

// Address is a postal address in India. PINCode is the postal code.
type Address struct {
	Name         string `at:"name"`
	PhoneNumber  string `at:"phone_number"`
	PINCode      string `at:"in_pin_code,max=6"`
	HouseNumber  string `at:"house_number"`
	FloorNumber  string `at:"floor_number"`
	TowerNumber  string `at:"tower_number"`
	BuildingName string `at:"building_name"`
	Address      string `at:"address"`
	LandmarkArea string `at:"landmark_area"`
	City         string `at:"city"`
	State        string `at:"state"`
}
