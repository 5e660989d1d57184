package learn

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// namesOf are names that a pattern matches, and similar ones that it does not match.
type namesOf struct{ matching, others string }

// TestConceptNames has names of members for each concept.
func TestConceptNames(t *testing.T) {
	t.Parallel()
	tests := map[string]namesOf{
		"id":         {"id messageId message_id MSGID uuid smsSid ticketNo apiToken", "idea identity text"},
		"request":    {"requestId request_id batch bulkId trace-id", "messageId reqId"},
		"reference":  {"ref clientRef customId correlationId tag external_id", "id order"},
		"from":       {"from fromNumber sender source_addr originator cli shortcode", "client to click"},
		"to":         {"to sendTo destination recipient phone number address msisdn mobile", "token total from"},
		"text":       {"text body content message msgText", "type sender"},
		"parts":      {"parts numberOfSegments messageCount", "pages size"},
		"status":     {"status state dlrStatus result eventType", "type code"},
		"sendStatus": {"sendStatus submission accepted phase stage", "status delivery"},
		"code":       {"code errorCode errno error", "status reason"},
		"price":      {"price totalCost amount charged", "fee parts"},
		"cost":       {"price totalCost amount charged", "fee parts"},
		"unitCost":   {"unitPrice pricePerMessage", "price total"},
		"balance":    {"balance credits remaining", "price cost"},
		"currency":   {"currency priceCurrency", "unit price"},
		"created":    {"created submitDate date timestamp", "sent at"},
		"sent":       {"sent sentAt doneDate time", "sender created"},
		"time":       {"time date sent_at createdAt", "attempt status"},
		"operator":   {"operator carrierName network mccmnc", "country mcc"},
		"country":    {"country countryCode", "county operator"},

		"page":          {"page pageNo page_num page-number pageIndex", "pages pageSize per_pages"},
		"offset":        {"offset skip startRow from", "page limit"},
		"pageSize":      {"pageSize limit per_page count maxResults", "page offset"},
		"createdAfter":  {"dateFrom after since startTime begin created_gt created[gte]", "until length gtx"},
		"createdBefore": {"dateTo before until endTime created_lt created[lte]", "since token ltx"},
		"sortBy":        {"sort sortColumn orderBy", "byte direction"},
		"order":         {"order direction sortDir", "sort asc"},
		"next":          {"next nextPage", "previous page"},
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(conceptNames)), slices.Collect(maps.Keys(tests)))
	for concept, names := range tests {
		assertNames(t, concept, names, func(name string) bool { return isNameOf(concept, name) })
	}
	assert.True(t, isNameOf("keyword", "Keyword"), "a concept without a pattern has its own name")
	assert.False(t, isNameOf("keyword", "keywords"))
}

// TestNamePatterns has names for each other pattern.
func TestNamePatterns(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		match func(name string) bool
		names namesOf
	}{
		"sortName":       {sortName.match, namesOf{"sort sortBy sort_column SORT-FIELD sortKey order_by sort[column] page[by]", "sorted resort sortOrder by column"}},
		"orderName":      {orderName.match, namesOf{"dir direction order sort_dir sortOrder sort[direction]", "orderBy directory orderId"}},
		"moreName":       {moreName.match, namesOf{"more hasMore has_next has-next-page HASMOREPAGE", "furthermore next moreInfo hasMorePages"}},
		"totalName":      {totalName.match, namesOf{"total totalCount total_rows total-results TOTAL", "totalPages total_cost subtotal"}},
		"countName":      {countName.match, namesOf{"count row_count matches hits found", "country counter unfounded"}},
		"amountName":     {amountName.match, namesOf{"price pricePerMessage unit_cost charges amount fee micros priceMicros", "amounts feed parts"}},
		"currencyName":   {currencyName.match, namesOf{"currency priceUnit", "price cur"}},
		"codeName":       {codeName.match, namesOf{"code errorCode err_code errno err_no", "codes encoder errnos"}},
		"errorName":      {errorName.match, namesOf{"err errs error errors Error", "errorCode terror"}},
		"typeName":       {typeName.match, namesOf{"type error status name messageId reason title", "types errorText username idle"}},
		"messageName":    {messageName.match, namesOf{"message errorMessage description error_detail title error text msg reason", "messageId errors titles"}},
		"successName":    {successName.match, namesOf{"code Code statusCode status-code err_code resultCode errno err_no", "countryCode networkCode codes"}},
		"statusName":     {statusName.match, namesOf{"status messageStatus state dlrResult result successful accepted valid stat", "statement results invalid acceptedAt"}},
		"statusPartName": {statusPartName.match, namesOf{"name groupName code group", "id text"}},
		"credentialName": {credentialName.match, namesOf{
			"X-Shop-Key apiKeyId APIKEY keys app_secret password passphrase pwd token basic-auth Authorization credentials api_id apiId user_name login session signature",
			"X-Keyword keyword KEYWORDS X-Tenant loginUrl keyed channel",
		}},
		"retryName":  {retryName.match, namesOf{"Idempotency-Key X-Idempotency", "Retry-After X-Request-Id"}},
		"secretName": {secretName.match, namesOf{"app_secret password passwd passphrase pwd", "key token user"}},
		"reportName": {reportName.match, namesOf{"callbackUrl webhook_url notifyURL dlr delivery_report", "url format"}},
		"isInError":  {isInError, namesOf{"error.groupName data.errors.0.code err.name", "error errorCode terror.name errors"}},
		"isOffset": {
			func(name string) bool { return isOffset(leaf{name: name, word: "0"}) },
			namesOf{"offset skip page[skip] row_offset start from", "offsets dateFrom starts page"},
		},
		"isOffset, a number": {
			func(name string) bool { return isOffset(leaf{name: name, word: "200"}) },
			namesOf{"offset skip page[offset]", "start from"},
		},
		"isOffset, a time": {
			func(name string) bool { return isOffset(leaf{name: name, word: "1795795200"}) },
			namesOf{"", "offset skip start from"},
		},
		"isSize": {
			func(name string) bool { return isSize(leaf{name: name, word: "100"}) },
			namesOf{"limit count rows size take per_page perPage per-page page[limit] page_size", "limits rateLimit page discount"},
		},
		"isSize, a time": {
			func(name string) bool { return isSize(leaf{name: name, word: "1795795200"}) },
			namesOf{"", "limit size"},
		},
	} {
		assertNames(t, name, tt.names, tt.match)
	}
}

func assertNames(t *testing.T, pattern string, names namesOf, match func(name string) bool) {
	t.Helper()
	for name := range strings.FieldsSeq(names.matching) {
		assert.True(t, match(name), "%s: %s", pattern, name)
	}
	for name := range strings.FieldsSeq(names.others) {
		assert.False(t, match(name), "%s: %s", pattern, name)
	}
}
