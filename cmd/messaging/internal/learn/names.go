package learn

import (
	"regexp"
	"slices"
	"strings"
)

// The patterns of this file recognize what provider documentation calls a member. A known value always decides first: a name chooses between
// members with the same value, or finds a value that the examples do not name. The replay at the end rejects a wrong choice that changes a
// result. The comments have names from the services in testdata.

// namePattern matches names that have one of its words, in upper or lower case.
type namePattern struct {
	within   []string // anywhere in the name
	whole    []string // the whole name, apart from - and _
	start    []string // at the start, apart from - and _
	end      []string // at the end, apart from - and _
	wordEnd  []string // at the end of a word: key in apiKeyId and X-Key, not in keyword
	lastWord []string // the last word, after a sign: limit in page[limit], not in rateLimit
}

// match reports whether the pattern matches a name.
func (p namePattern) match(name string) bool {
	lower := strings.ToLower(name)
	joined := strings.NewReplacer("-", "", "_", "").Replace(lower)
	isWithin := func(word string) bool { return strings.Contains(lower, word) }
	isStart := func(word string) bool { return strings.HasPrefix(joined, word) }
	isEnd := func(word string) bool { return strings.HasSuffix(joined, word) }
	endsWord := func(word string) bool { return endsWordOf(name, word) }
	isLastWord := func(word string) bool { return isLastWordOf(lower, word) }
	hasPart := slices.ContainsFunc(p.within, isWithin) || slices.ContainsFunc(p.start, isStart) || slices.ContainsFunc(p.end, isEnd)
	hasWord := slices.ContainsFunc(p.wordEnd, endsWord) || slices.ContainsFunc(p.lastWord, isLastWord)
	return slices.Contains(p.whole, joined) || hasPart || hasWord
}

// endsWordOf reports whether text ends a word of a name. A word also ends where upper and lower case change.
func endsWordOf(name, text string) bool {
	for end := len(text); end <= len(name); end++ {
		isText := strings.EqualFold(name[end-len(text):end], text)
		if isText && (end == len(name) || !continuesWord(name[end-1], name[end])) {
			return true
		}
	}
	return false
}

// continuesWord reports whether two letters next to each other are in the same word, because they have the same case.
func continuesWord(before, after byte) bool {
	return isLower(before) && isLower(after) || isUpper(before) && isUpper(after)
}

func isLower(b byte) bool { return b >= 'a' && b <= 'z' }

func isUpper(b byte) bool { return b >= 'A' && b <= 'Z' }

// isLastWordOf reports whether word is the last word of a name in lower case, perhaps in brackets, and no letter comes directly before it.
func isLastWordOf(name, word string) bool {
	before, hasWord := strings.CutSuffix(strings.TrimSuffix(name, "]"), word)
	return hasWord && (before == "" || !isLower(before[len(before)-1]))
}

// conceptNames match the names of members that hold a concept.
var conceptNames = map[string]namePattern{ //nolint:gochecknoglobals // never written
	"id":         {within: []string{"uuid", "sid", "token", "ticket"}, end: []string{"id"}},
	"request":    {within: []string{"request", "batch", "bulk", "trace"}},
	"reference":  {within: []string{"ref", "client", "custom", "correl", "tag", "external"}},
	"from":       {within: []string{"from", "sender", "source", "origin", "shortcode"}, end: []string{"cli"}},
	"to":         {within: []string{"dest", "recipient", "phone", "number", "address", "msisdn", "mobile"}, end: []string{"to"}},
	"text":       {within: []string{"text", "body", "content", "message", "msg"}},
	"parts":      {within: []string{"part", "segment", "count"}},
	"status":     {within: []string{"status", "state", "dlr", "result", "event"}},
	"sendStatus": {within: []string{"send", "submi", "accept", "phase", "stage"}},
	"code":       {within: []string{"code", "errno", "error"}},
	"price":      {within: []string{"price", "cost", "amount", "charge"}},
	"cost":       {within: []string{"price", "cost", "amount", "charge"}},
	"unitCost":   {within: []string{"unit", "per"}},
	"balance":    {within: []string{"balance", "credit", "remain"}},
	"currency":   {within: []string{"currency"}},
	"created":    {within: []string{"creat", "submit", "date", "time"}},
	"sent":       {within: []string{"sent", "done", "date", "time"}},
	"time":       {within: []string{"time", "date"}, end: []string{"at"}},
	"operator":   {within: []string{"operator", "carrier", "network", "mccmnc"}},
	"country":    {within: []string{"country"}},

	"page":          {end: []string{"page", "pageno", "pagenum", "pagenumber", "pageindex"}},
	"offset":        {within: []string{"offset", "skip", "start", "from"}},
	"pageSize":      {within: []string{"size", "limit", "per", "count", "max"}},
	"createdAfter":  {within: []string{"from", "after", "since", "start", "begin"}, wordEnd: []string{"gt", "gte"}},
	"createdBefore": {within: []string{"before", "until", "end"}, end: []string{"to"}, wordEnd: []string{"lt", "lte"}},
	"sortBy":        {within: []string{"sort", "column"}, end: []string{"by"}},
	"order":         {within: []string{"dir", "order"}},
	"next":          {within: []string{"next"}},
}

// isNameOf reports whether a member with this name usually holds a concept.
func isNameOf(concept, name string) bool {
	if known, isKnown := conceptNames[concept]; isKnown {
		return known.match(name)
	}
	return strings.EqualFold(name, concept)
}

// Parameters of paging, and members of a page.
//
//nolint:gochecknoglobals // never written
var (
	// offsetName and startName match the number of rows to skip: offset=200, page[skip]=0; start=0. Other values of start and from may be times
	// or senders.
	offsetName = namePattern{lastWord: []string{"offset", "skip"}}
	startName  = namePattern{lastWord: []string{"start", "from"}}

	// sizeName matches the number of rows of a page: limit=100, count=100, per_page=100.
	sizeName = namePattern{lastWord: []string{"limit", "count", "rows", "size", "take", "perpage", "per_page", "per-page"}}

	// sixDigits and fiveDigits match the numbers in such parameters, and no times.
	sixDigits  = regexp.MustCompile(`^[0-9]{1,6}$`)
	fiveDigits = regexp.MustCompile(`^[0-9]{1,5}$`)

	// sortName and orderName match a column to sort by, and a direction: sort=accepted_at, order_by=date, sort[column]=date; dir=asc, order=desc.
	sortName = namePattern{
		whole: []string{"sort", "sortby", "sortcolumn", "sortfield", "sortkey", "orderby"},
		end:   []string{"[column]", "[field]", "[by]"},
	}
	orderName = namePattern{
		whole: []string{"dir", "direction", "order", "sortdir", "sortdirection", "sortorder"},
		end:   []string{"[dir]", "[direction]", "[order]"},
	}

	// cursorName matches the cursor of a page: cursor=c1, page[cursor]=c1, pageToken=c1. A parameter after may be a time.
	cursorName = namePattern{
		whole:    []string{"pagecursor", "nextcursor", "pagetoken", "nextpagetoken", "nexttoken", "continuationtoken", "startingafter"},
		lastWord: []string{"cursor"},
	}

	// nextCursorName matches the cursor of the next page: next_cursor, nextPageToken.
	nextCursorName = namePattern{whole: []string{"nextcursor", "nextpagecursor", "nextpagetoken", "nexttoken", "continuationtoken"}}

	// moreName matches the flag that says whether a page follows: more, hasMore, has_next_page.
	moreName = namePattern{whole: []string{"more", "hasmore", "hasnext", "hasmorepage", "hasnextpage"}}
)

// isOffset reports whether a parameter is the number of rows to skip.
func isOffset(parameter leaf) bool {
	isStart := startName.match(parameter.name) && parameter.word == "0"
	return isStart || offsetName.match(parameter.name) && sixDigits.MatchString(parameter.word)
}

// isSize reports whether a parameter is the number of rows of a page.
func isSize(parameter leaf) bool {
	return sizeName.match(parameter.name) && fiveDigits.MatchString(parameter.word)
}

// isCursor reports whether a parameter is the cursor of a page.
func isCursor(parameter leaf) bool { return cursorName.match(parameter.name) && parameter.word != "" }

// isNextCursor reports whether a member is the cursor of the next page. On the last page it may be null.
func isNextCursor(member leaf) bool {
	switch member.value.(type) {
	case bool, map[string]any, []any:
		return false
	}
	return nextCursorName.match(member.name)
}

// Members of responses.
//
//nolint:gochecknoglobals // never written
var (
	// totalName matches the number of rows of all pages: total, totalCount, total_rows. It must not match a number of pages.
	totalName = namePattern{whole: []string{
		"total", "totalcount", "totalrows", "totalitems", "totalelements", "totalresults", "totalrecords", "totalmessages", "totalhits",
	}}

	// countName matches numbers of rows, perhaps of one page: count, matches, row_count.
	countName = namePattern{whole: []string{"matches", "hits", "found"}, end: []string{"count"}}

	// amountName matches amounts of money: price, pricePerMessage, unit_cost, micros.
	amountName = namePattern{within: []string{"price", "cost", "charge"}, whole: []string{"amount", "fee"}, end: []string{"micros"}}

	// currencyName and currencyCode match a currency: currency=EUR, price.unit=EUR.
	currencyName = namePattern{within: []string{"currency", "unit"}}
	currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

	// isAmount matches decimal numbers. A phone number has more digits.
	isAmount = regexp.MustCompile(`^[0-9]{1,9}([.][0-9]{1,9})?$`)

	// codeName matches the code of an error: errorCode, err_code.
	codeName = namePattern{whole: []string{"errno"}, end: []string{"code"}}

	// errorName matches an object with an error: error in error.groupName.
	errorName = namePattern{whole: []string{"err", "errs", "error", "errors"}}

	// typeName matches members whose value is the code of an error only if it looks like one: error, status, messageId.
	typeName = namePattern{whole: []string{"type", "error", "status", "name", "reason", "title"}, end: []string{"id"}}

	// errorWord matches the codes in such members: a word such as BAD_REQUEST, or a short number, but not an ID.
	errorWord = regexp.MustCompile(`^([A-Za-z_.:-]+|[0-9]{1,6})$`)

	// messageName matches the sentence that explains an error: message, text, description.
	messageName = namePattern{
		whole: []string{"error"},
		end:   []string{"message", "description", "detail", "title", "text", "msg", "reason"},
	}

	// successName matches the code of success in an accepted response: Code, statusCode. With another code the outcome is then unknown.
	// Codes of countries and networks, such as countryCode, must not match.
	successName = namePattern{whole: []string{
		"code", "statuscode", "errorcode", "errcode", "resultcode", "responsecode", "returncode", "errno",
	}}

	// statusName matches the status of a message: status, accepted, successful, valid.
	statusName = namePattern{
		within: []string{"status", "success"},
		whole:  []string{"result", "accepted", "valid", "stat"},
		start:  []string{"dlr"},
		end:    []string{"state"},
	}

	// statusPartName matches the members of a status that is an object: groupName, name.
	statusPartName = namePattern{within: []string{"name", "code", "group"}}
)

// isInError reports whether the path of a member leads through an object with an error: error.groupName.
func isInError(path string) bool {
	members := strings.Split(path, ".")
	return slices.ContainsFunc(members[:len(members)-1], errorName.match)
}

// Members and headers of requests.
//
//nolint:gochecknoglobals // never written
var (
	// credentialName matches credentials: X-Shop-Key, apiKeyId, app_secret, basic-auth, passphrase. A key ends a word, so that a keyword is no
	// credential.
	credentialName = namePattern{
		within: []string{
			"auth", "secret", "passw", "passphrase", "pwd", "token", "credential", "session", "signature",
			"apiid", "api_id", "api-id", "username", "user_name", "user-name",
		},
		whole:   []string{"login"},
		wordEnd: []string{"key", "keys"},
	}

	// longWord matches text without separators that is as long as a key. Words, versions, media types and most times are shorter.
	longWord = regexp.MustCompile(`[A-Za-z0-9]{16,}`)

	// uuidValue matches a UUID, which has shorter runs and is often a key.
	uuidValue = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

	// compactTime matches a time without separators: 20261128T080500Z.
	compactTime = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}(Z|[+-][0-9]{4})?$`)

	// retryName matches a header that identifies a send for its retries. The contract rejects it, and says why.
	retryName = namePattern{within: []string{"idempotency"}}

	// secretName matches the secret of a pair of credentials: app_secret, password.
	secretName = namePattern{within: []string{"secret", "passw", "passphrase", "pwd"}}

	// reportName matches settings of delivery reports: notifyURL, webhook_url, delivery_report.
	reportName = namePattern{within: []string{"callback", "webhook", "notif", "dlr", "report"}}
)
