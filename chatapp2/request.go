package chatapp2

// LocationRequest asks the recipient for a location. The Interactive takes no header. The response is a location message that
// quotes this one.
type LocationRequest struct{}

func (LocationRequest) actionType() string { return actionLocationRequest }

func (r LocationRequest) action() any { return named[LocationRequest]{nameLocationRequest, r} }

func (LocationRequest) needs() needs { return needs{header: headerNone} }

func (LocationRequest) check(*checks, string) {}

// ContactRequest asks the recipient for their contact details. The response is a contacts message.
type ContactRequest struct{}

func (ContactRequest) actionType() string { return actionContactRequest }

func (r ContactRequest) action() any { return named[ContactRequest]{actionContactRequest, r} }

func (ContactRequest) needs() needs { return needs{} }

func (ContactRequest) check(*checks, string) {}

// CallPermissionRequest asks the recipient for permission to call them. The platform allows one a day and two a week for each
// recipient. The body is optional.
type CallPermissionRequest struct{}

func (CallPermissionRequest) actionType() string { return actionCallPermission }

func (r CallPermissionRequest) action() any {
	return named[CallPermissionRequest]{actionCallPermission, r}
}

func (CallPermissionRequest) needs() needs { return needs{noBody: true} }

func (CallPermissionRequest) check(*checks, string) {}
