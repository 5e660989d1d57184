package chatapp2

// LocationRequest asks the recipient for a location. The Interactive takes no header. The response is a location message that
// quotes this one.
type LocationRequest struct{}

// ContactRequest asks the recipient for their contact details. The response is a contacts message.
type ContactRequest struct{}

// CallPermissionRequest asks the recipient for permission to call them. The platform allows one a day and two a week for each
// recipient. The body is optional.
type CallPermissionRequest struct{}
