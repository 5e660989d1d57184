package messagingtest

// A table maps concepts to wire names.
type table map[string]string

// inverted returns the concepts by name.
func (t table) inverted() table {
	concepts := table{}
	for concept, name := range t {
		concepts[name] = concept
	}
	return concepts
}

// names holds the wire names that the server speaks, by concept. The code of this package speaks in concepts only.
//
// defaultNames repeats those of the default contract by hand, so that a mistake in either shows. The members of a
// chat-app-2 message are not among them: they belong to the third-party platform and are the same for every service.
type names struct {
	auth     table // header, scheme, key, secret
	errors   table // the members of an error, as dotted paths
	sms      sendNames
	chatApp1 sendNames
	chatApp2 sendNames
	list     listNames
	inbound  table // the parameters of an inbound message
	delivery table // the parameters of a delivery report
	// placeholders are what a callback URL holds in place of values.
	placeholders table
}

// sendNames are the names of an operation that sends.
type sendNames struct {
	path   string
	fields table
	// with holds, by concept, fields that come with another, and their JSON values.
	with map[string]table
	// response holds the members of a response, as dotted paths. Chat app 2 responds as the platform does.
	response table
	accepted string // the status of a success
}

// listNames are the names of the operation that lists.
type listNames struct {
	path   string
	params table
	orders table // ascending, descending
	page   table // the members of a response
	record table // the members of a row
}

func defaultNames() names {
	dlrReport := map[string]table{"callback": {"dlrReport": "1"}}
	receipt := table{
		"id": "data.id", "request": "data.requestId", "reference": "data.referenceId", "parts": "data.messageParts",
		"unitCost": "data.unitCost", "cost": "data.transactionCost", "balance": "data.remaining", "operator": "data.operatorCode",
		"status": "status",
	}
	return names{
		auth:   table{"header": "Authorization", "scheme": "Bearer", "key": "apiKey", "secret": "apiSecret"},
		errors: table{"code": "code", "message": "message", "request": "requestId"},
		sms: sendNames{
			path: "/sms/send",
			fields: table{
				"from": "from", "to": "to", "text": "text", "callback": "dlrCallback", "reference": "referenceId",
			},
			with: dlrReport, response: receipt, accepted: "ok",
		},
		chatApp1: sendNames{
			path: "/chatapp1/send",
			fields: table{
				"channel": "from", "to": "to",
				"text": "text", "image": "image", "video": "video", "thumbnail": "thumbnail", "duration": "duration", "size": "fileSize",
				"caption": "caption", "url": "action",
				"template": "templateId", "params": "templateParams", "language": "templateLanguage",
				"ttl": "ttl", "fallbackFrom": "sms_from", "fallbackText": "sms_text", "callback": "dlrCallback", "reference": "referenceId",
			},
			with: dlrReport, response: receipt, accepted: "ok",
		},
		chatApp2: sendNames{
			path: "/chatapp2/send",
			fields: table{
				"ttl": "ttl", "fallbackFrom": "sms_from", "fallbackText": "sms_text", "callback": "dlrCallback", "reference": "referenceId",
			},
			with: dlrReport,
		},
		list: listNames{
			path: "/api/sms",
			params: table{
				"createdAfter": "filter[dateCreatedGt]", "createdBefore": "filter[dateCreatedLt]",
				"id": "filter[transactionId]", "reference": "filter[referenceId]", "request": "filter[requestId]",
				"category": "filter[categoryId]", "from": "filter[from]", "to": "filter[to]",
				"sortBy": "sort[column]", "order": "sort[direction]", "pageSize": "pageSize", "page": "pageNumber",
				// The default contract names neither. The overlays in the documentation of Paging do.
				"offset": "offset", "cursor": "cursor",
			},
			orders: table{"ascending": "asc", "descending": "desc"},
			page: table{
				"status": "status", "items": "data", "total": "totalRows", "pages": "totalPages", "number": "pageNumber",
				"size": "pageSize", "hasNext": "hasNext", "next": "nextPage",
			},
			record: table{
				"id": "transactionId", "request": "requestId", "reference": "referenceId", "category": "categoryId",
				"from": "from", "to": "to", "text": "text", "parts": "messageParts", "price": "price",
				"created": "dateCreated", "sent": "dateSent", "sendStatus": "sendStatus", "deliveryStatus": "dlrStatus",
				"operator": "operator", "country": "country", "description": "description",
			},
		},
		inbound: table{
			"id": "id", "from": "from", "to": "to", "text": "message", "time": "timestamp", "reference": "referenceId",
			"operator": "operator", "keyword": "keyword",
			"name": "name", "kind": "type", "mediaURL": "mediaUrl", "mediaID": "mediaId", "mimeType": "mimeType", "caption": "caption",
			"fileName": "fileName", "latitude": "latitude", "longitude": "longitude", "json": "payload",
		},
		delivery: table{
			"status": "status", "id": "id", "reference": "referenceId", "time": "timestamp", "kind": "transactionType",
			"from": "from", "to": "to",
		},
		placeholders: table{
			"status": "%s", "id": "%i", "reference": "%r", "time": "%d", "kind": "%tr", "from": "%f", "to": "%t",
		},
	}
}

// Error codes. The default contract gives the first six a class of their own. The others are of the class invalid, and
// which of them stands for what is this package's choice.
const (
	codeUnauthorized        = "40001"
	codeRateLimited         = "40002"
	codeNoSuchPath          = "40005"
	codeUnavailable         = "50000"
	codeInsufficientBalance = "200101"
	codeDuplicate           = "200206"

	codeInvalid     = "40003"
	codeMethod      = "40004"
	codeBody        = "200201"
	codeContentType = "200202"
	codeKind        = "200203"
	codeMissing     = "200204"
	codeRecipient   = "200205"
	codeCallback    = "200207"
	codeTooLarge    = "200208"
	codeQuery       = "200209"
	codeNumber      = "200210"
	codeTime        = "200211"
	codeSort        = "200212"
	codeCursor      = "200213"
	codePayload     = "200214"
	codeLifetime    = "200215"
	codeFallback    = "200216"
	codeURL         = "200217"
	codeValue       = "200218"
	codeRoute       = "200219"
)
