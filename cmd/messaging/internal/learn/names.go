package learn

import (
	"regexp"
	"strings"
)

// The patterns of this file recognize what provider documentation calls a member. A known value always decides first: a name chooses between
// members with the same value, or finds a value that the examples do not name. The replay at the end rejects a wrong choice that changes a
// result. The comments have names from the services in testdata.

// conceptNames match the names of members that hold a concept.
var conceptNames = map[string]*regexp.Regexp{ //nolint:gochecknoglobals // never written
	"id":         regexp.MustCompile(`(?i)id$|uuid|sid|token|ticket`),
	"request":    regexp.MustCompile(`(?i)request|batch|bulk|trace`),
	"reference":  regexp.MustCompile(`(?i)ref|client|custom|correl|tag|external`),
	"from":       regexp.MustCompile(`(?i)from|sender|source|origin|cli$|shortcode`),
	"to":         regexp.MustCompile(`(?i)to$|dest|recipient|phone|number|address|msisdn|mobile`),
	"text":       regexp.MustCompile(`(?i)text|body|content|message|msg`),
	"parts":      regexp.MustCompile(`(?i)part|segment|count`),
	"status":     regexp.MustCompile(`(?i)status|state|dlr|result|event`),
	"sendStatus": regexp.MustCompile(`(?i)send|submi|accept|phase|stage`),
	"code":       regexp.MustCompile(`(?i)code|errno|error`),
	"price":      regexp.MustCompile(`(?i)price|cost|amount|charge`),
	"cost":       regexp.MustCompile(`(?i)price|cost|amount|charge`),
	"unitCost":   regexp.MustCompile(`(?i)unit|per`),
	"balance":    regexp.MustCompile(`(?i)balance|credit|remain`),
	"currency":   regexp.MustCompile(`(?i)currency`),
	"created":    regexp.MustCompile(`(?i)creat|submit|date|time`),
	"sent":       regexp.MustCompile(`(?i)sent|done|date|time`),
	"time":       regexp.MustCompile(`(?i)time|date|at$`),
	"operator":   regexp.MustCompile(`(?i)operator|carrier|network|mccmnc`),
	"country":    regexp.MustCompile(`(?i)country`),

	"page":          regexp.MustCompile(`(?i)page[-_]?(no|num|number|index)?$`),
	"offset":        regexp.MustCompile(`(?i)offset|skip|start|from`),
	"pageSize":      regexp.MustCompile(`(?i)size|limit|per|count|max`),
	"createdAfter":  regexp.MustCompile(`(?i)from|after|since|start|begin|gte?\b`),
	"createdBefore": regexp.MustCompile(`(?i)to$|before|until|end|lte?\b`),
	"sortBy":        regexp.MustCompile(`(?i)sort|column|by$`),
	"order":         regexp.MustCompile(`(?i)dir|order`),
	"next":          regexp.MustCompile(`(?i)next`),
}

// isNameOf reports whether a member with this name usually holds a concept.
func isNameOf(concept, name string) bool {
	if known := conceptNames[concept]; known != nil {
		return known.MatchString(name)
	}
	return strings.EqualFold(name, concept)
}

// Parameters of paging as name=value, and members of a page.
var (
	// offsetParameter matches the number of rows to skip: offset=200, start=0, page[skip]=0. Other values of start and from may be times or senders.
	offsetParameter = regexp.MustCompile(`(?i)(^|[^a-z])((offset|skip)\]?=[0-9]{1,6}|(start|from)\]?=0)$`)

	// sizeParameter matches the number of rows of a page: limit=100, count=100, per_page=100.
	sizeParameter = regexp.MustCompile(`(?i)(^|[^a-z])(limit|count|rows|size|take|per[-_]?page)\]?=[0-9]{1,5}$`)

	// sortName and orderName match a column to sort by, and a direction: sort=accepted_at, order_by=date, sort[column]=date; dir=asc, order=desc.
	sortName  = regexp.MustCompile(`(?i)^sort([-_]?(by|column|field|key))?$|^order[-_]?by$|\[(column|field|by)\]$`)
	orderName = regexp.MustCompile(`(?i)^(sort[-_]?)?(dir|direction|order)$|\[(dir|direction|order)\]$`)

	// moreName matches the flag that says whether a page follows: more, hasMore, has_next_page.
	moreName = regexp.MustCompile(`(?i)^(more|has[-_]?(more|next)([-_]?page)?)$`)
)

// Members of responses.
var (
	// totalName matches the number of rows of all pages: total, totalCount, total_rows. It must not match a number of pages.
	totalName = regexp.MustCompile(`(?i)^total([-_]?(count|rows|items|elements|results|records|messages|hits))?$`)

	// countName matches numbers of rows, perhaps of one page: count, matches, row_count.
	countName = regexp.MustCompile(`(?i)count$|^matches$|^hits$|^found$`)

	// amountName matches amounts of money: price, pricePerMessage, unit_cost, micros.
	amountName = regexp.MustCompile(`(?i)price|cost|charge|^amount$|^fee$|micros$`)

	// currencyName and currencyCode match a currency: currency=EUR, price.unit=EUR.
	currencyName = regexp.MustCompile(`(?i)currency|unit`)
	currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

	// isAmount matches decimal numbers. A phone number has more digits.
	isAmount = regexp.MustCompile(`^[0-9]{1,9}([.][0-9]{1,9})?$`)

	// codeName matches the code of an error: errorCode, err_code.
	codeName = regexp.MustCompile(`(?i)code$|^errno$|^err_?no$`)

	// errorObject matches the path of a member within an error: error.groupName=OK.
	errorObject = regexp.MustCompile(`(?i)(^|[.])err(or)?s?[.]`)

	// typeName matches members whose value is the code of an error only if it looks like one: error, status, messageId.
	typeName = regexp.MustCompile(`(?i)^type$|^error$|^status$|^name$|id$|^reason$|^title$`)

	// errorWord matches the codes in such members: a word such as BAD_REQUEST, or a short number, but not an ID.
	errorWord = regexp.MustCompile(`^([A-Za-z_.:-]+|[0-9]{1,6})$`)

	// messageName matches the sentence that explains an error: message, text, description.
	messageName = regexp.MustCompile(`(?i)message$|description$|detail$|title$|^error$|text$|msg$|reason$`)

	// successName matches the code of success in an accepted response: Code, statusCode. With another code the outcome is then unknown.
	// Codes of countries and networks, such as countryCode, must not match.
	successName = regexp.MustCompile(`(?i)^(status|error|err|result|response|return)?[-_]?code$|^errno$`)

	// statusName matches the status of a message: status, accepted, successful, valid.
	statusName = regexp.MustCompile(`(?i)status|state$|^dlr|^result$|success|^accepted$|^valid$|^stat$`)

	// statusPartName matches the members of a status that is an object: groupName, name.
	statusPartName = regexp.MustCompile(`(?i)name|code|group`)
)

// Members and headers of requests.
var (
	// credentialName matches credentials: X-Shop-Key, apiKeyId, app_secret, basic-auth, passphrase. A key ends a word, and auth begins or ends
	// one, so that a keyword is no credential.
	credentialName = regexp.MustCompile(`[Kk]eys?([^a-z]|$)|KEYS?([^A-Z]|$)|Auth|AUTH|(^|[^a-z])auth|auth([^a-z]|$)|` +
		`(?i:secret|passw|passphrase|pwd|token|credential|api[-_]?id|user[-_]?name|^login$|session|signature)`)

	// longWord matches text without separators that is as long as a key. Words, versions, media types and most times are shorter.
	longWord = regexp.MustCompile(`[A-Za-z0-9]{16,}`)

	// uuidValue matches a UUID, which has shorter runs and is often a key.
	uuidValue = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

	// compactTime matches a time without separators: 20261128T080500Z.
	compactTime = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}(Z|[+-][0-9]{4})?$`)

	// retryName matches a header that identifies a send for its retries. The contract rejects it, and says why.
	retryName = regexp.MustCompile(`(?i)idempotency`)

	// secretName matches the secret of a pair of credentials: app_secret, password.
	secretName = regexp.MustCompile(`(?i)secret|passw|passphrase|pwd`)

	// reportName matches settings of delivery reports: notifyURL, webhook_url, delivery_report.
	reportName = regexp.MustCompile(`(?i)callback|webhook|notif|dlr|report`)
)
