package contract

// SMSList is the operation that reads SMS transactions back, page by page: a GET request, whose parameters go in the query.
type SMSList struct {
	// Path is the path of the operation, from the base URL on. The specification gives it.
	Path string `json:"path"`
	// Params names the parameters of the request.
	Params SMSListParams `json:"params"`
	// Constants go with every request, by name. Keep to strings, numbers and booleans. A number from an overlay is a
	// json.Number, exactly as written.
	Constants map[string]any `json:"constants"`
	// Orders holds the two values of Params.Order.
	Orders Orders `json:"orders"`
	// Time is how the times in the query are written, a default.
	Time TimeForm `json:"time"`
	// Paging is how the next page is asked for.
	Paging Paging `json:"paging"`
	// Items lists the paths (see the package comment) at which the list of records may stand; the first that is present and
	// not null wins. An empty path is the answer itself, for an answer that is a bare array. At least one path is needed.
	Items []string `json:"items"`
	// Page says where the facts of a page stand.
	Page Page `json:"page"`
	// Record says where the facts of a record stand.
	Record Record `json:"record"`
	// Zone is the time zone, by its name in the tz database, of times that name none themselves. Empty means UTC.
	Zone string `json:"zone"`
}

// SMSListParams names the parameters of the list's query. Brackets and dots are part of a name. Empty: the service has no
// such parameter, and using it is an error. All names are defaults.
type SMSListParams struct {
	// CreatedAfter is the time after which a transaction was created.
	CreatedAfter string `json:"createdAfter"`
	// CreatedBefore is the time before which a transaction was created.
	CreatedBefore string `json:"createdBefore"`
	// ID is the ID of the transaction.
	ID string `json:"id"`
	// Reference is the sender's own reference ID.
	Reference string `json:"reference"`
	// Request is the ID of the request that sent the message.
	Request string `json:"request"`
	// Category is the ID of the category.
	Category string `json:"category"`
	// From is the sender ID.
	From string `json:"from"`
	// To is the recipient.
	To string `json:"to"`
	// Status is the status of the transaction. By default the service has no such parameter.
	Status string `json:"status"`
	// Page is the number of the page; needed where Paging.By is [PagingByPage].
	Page string `json:"page"`
	// PageSize is the number of records on a page.
	PageSize string `json:"pageSize"`
	// Offset is the number of records to pass over; needed where Paging.By is [PagingByOffset]. Empty by default.
	Offset string `json:"offset"`
	// Cursor is the mark of the next page; needed where Paging.By is [PagingByCursor]. Empty by default.
	Cursor string `json:"cursor"`
	// SortBy is the column by which records are sorted.
	SortBy string `json:"sortBy"`
	// Order is the direction of the sorting, with a value of SMSList.Orders.
	Order string `json:"order"`
}

// Orders holds the values of SMSListParams.Order, both defaults. They must differ.
type Orders struct {
	Ascending  string `json:"ascending"`
	Descending string `json:"descending"`
}

// Paging is how the next page is asked for, a default.
type Paging struct {
	// By is the kind of paging.
	By PagingKind `json:"by"`
	// First is the number of the first page, 0 or more, where By is [PagingByPage].
	First int `json:"first"`
}

// PagingKind is a way to ask for the next page. The zero value is not a kind and is refused.
type PagingKind string

// The kinds of paging.
const (
	// PagingByPage counts pages from Paging.First on; a listing needs SMSListParams.Page for it.
	PagingByPage PagingKind = "page"
	// PagingByOffset counts records from 0 on; a listing needs SMSListParams.Offset for it.
	PagingByOffset PagingKind = "offset"
	// PagingByCursor passes on what the answer holds at Page.Next; a listing
	// needs that and SMSListParams.Cursor for it.
	PagingByCursor PagingKind = "cursor"
	// PagingNone reads one page and no more.
	PagingNone PagingKind = "none"
)

func (PagingKind) known() []string {
	return []string{string(PagingByCursor), string(PagingNone), string(PagingByOffset), string(PagingByPage)}
}

// TimeForm is how a time is written into a query. The zero value is not a form and is refused.
type TimeForm string

// The forms of a time.
const (
	// TimeRFC3339Milli is RFC 3339 in UTC with milliseconds: 2006-01-02T15:04:05.000Z.
	TimeRFC3339Milli TimeForm = "rfc3339ms"
	// TimeRFC3339 is RFC 3339 in UTC with whole seconds: 2006-01-02T15:04:05Z.
	TimeRFC3339 TimeForm = "rfc3339"
	// TimeUnix is the number of seconds since 1970-01-01 UTC.
	TimeUnix TimeForm = "unix"
	// TimeUnixMilli is the number of milliseconds since 1970-01-01 UTC.
	TimeUnixMilli TimeForm = "unixms"
	// TimeDateTime is 2006-01-02 15:04:05 in SMSList.Zone.
	TimeDateTime TimeForm = "datetime"
	// TimeDate is 2006-01-02 in SMSList.Zone.
	TimeDate TimeForm = "date"
)

func (TimeForm) known() []string {
	return []string{
		string(TimeDate), string(TimeDateTime), string(TimeRFC3339), string(TimeRFC3339Milli), string(TimeUnix), string(TimeUnixMilli),
	}
}

// Page says where the facts of a page stand in the answer. Each is a list of paths (see the package comment): the first that
// is present and not null wins, and an empty list means that the answer does not hold the fact. All are defaults.
type Page struct {
	// Total is the number of all records.
	Total []string `json:"total"`
	// Pages is the number of all pages.
	Pages []string `json:"pages"`
	// Number is the number of this page.
	Number []string `json:"number"`
	// Size is the number of records on a page.
	Size []string `json:"size"`
	// HasNext is a boolean: false on the last page.
	HasNext []string `json:"hasNext"`
	// Next is the next page's number, link or cursor: null on the last page. Needed where Paging.By is [PagingByCursor].
	Next []string `json:"next"`
}

// Record says where the facts of a transaction stand, from its own record on. Each is a list of paths (see the package
// comment): the first that is present and not null wins, and an empty list means that records do not hold the fact. All are
// defaults.
type Record struct {
	// ID is the ID of the transaction.
	ID []string `json:"id"`
	// Request is the ID of the request that sent the message.
	Request []string `json:"request"`
	// Reference is the sender's own reference ID.
	Reference []string `json:"reference"`
	// Category is the ID of the category.
	Category []string `json:"category"`
	// From is the sender ID.
	From []string `json:"from"`
	// To is the recipient.
	To []string `json:"to"`
	// Text is the text of the message.
	Text []string `json:"text"`
	// Parts is the number of parts that the message was cut into.
	Parts []string `json:"parts"`
	// Price is the price of the message.
	Price []string `json:"price"`
	// Created is when the service took the message.
	Created []string `json:"created"`
	// Sent is when the message went out.
	Sent []string `json:"sent"`
	// SendStatus tells how the sending went.
	SendStatus []string `json:"sendStatus"`
	// DeliveryStatus tells how the delivery went.
	DeliveryStatus []string `json:"deliveryStatus"`
	// Operator is the recipient's operator.
	Operator []string `json:"operator"`
	// Country is the recipient's country.
	Country []string `json:"country"`
	// Description says more about the status.
	Description []string `json:"description"`
}

func (l SMSList) validate(found *problems, pair KeyPair) {
	found.addFault("sms.list.path", pathFault(l.Path))

	taken := newNames(false)
	pair.claimNames(taken, true)
	checkNames(found, "sms.list.params", l.Params, taken)
	checkConstants(found, "sms.list.constants", l.Constants, taken)
	if l.Params.Order != "" && l.Orders.Ascending == l.Orders.Descending {
		found.add("sms.list.orders.descending", "has the same value as sms.list.orders.ascending")
	}

	if l.Paging.First < 0 {
		found.add("sms.list.paging.first", "is less than 0")
	}

	if len(l.Items) == 0 {
		found.add("sms.list.items", "names no path; the answer itself is an empty path")
	}
	checkPath(found, "sms.list.items", l.Items)
	checkPaths(found, "sms.list.page", l.Page)
	checkPaths(found, "sms.list.record", l.Record)
	checkZone(found, "sms.list.zone", l.Zone)
}
