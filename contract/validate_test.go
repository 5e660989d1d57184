package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

const (
	oneMeaning = "it has one meaning; leave it where it is right, and write the other list without it"
	oneValue   = "one value cannot be both; write the paths of each, and [] for what the service does not have"
	orItsID    = oneValue +
		" (a service that takes the reference of a send for its ID has the same list for both, in its response too)"
	allAccept = "means every word; write the words of acceptance: with any other the outcome is unknown, and not accepted"
)

const (
	emptyPartReason   = "has an empty part between its dots"
	hostReason        = "must begin with a single /, without scheme and host"
	headerReason      = "is not the name of a header"
	ownHeaderReason   = "names a header that the client or net/http writes itself"
	segmentReason     = "holds a . or .. segment"
	starReason        = "holds a * that is not at its end"
	backslashReason   = "must begin with a single /, and hold no backslash: it could be taken for a host"
	bracketsReason    = "holds a position in brackets; write it between dots, such as messages.0.id"
	dollarReason      = "begins with $; write the members alone, with dots between them, such as data.id"
	formsReason       = "unknown value; known: form, json, query"
	timesReason       = "unknown value; known: date, datetime, rfc1123, rfc2822, rfc3339, rfc3339ms, unix, unixms"
	noIDReason        = "names no path, so the status has to accept a message; write its paths in sms.send.response.status, and its words in sms.send.accepted"
	spaceReason       = "has white space around it, so that nothing in a response equals it"
	topReason         = "begins with a position, and the body is an object; write the member that holds the list, such as messages.0.to, or a RoundTripper (docs/contract.md)"
	scaleReason       = "is not from -18 to 18; -4 reads 12345 as 1.2345"
	statusReason      = "is not an HTTP status from 300 to 599"
	queryReason       = "must have no query and no fragment; constants hold what goes with every request"
	blankReason       = "holds a space or a control character"
	zoneReason        = "is not a time zone that this machine knows, such as Europe/London or UTC"
	formReason        = "is neither a string nor a number nor a boolean, and only a JSON body can hold it"
	positionReason    = "leads into a list, which only a JSON body has; write the parameter's name, such as to[0], or set encoding to json"
	everyReason       = "holds a *, which only id and status of a response have; write a position, such as messages.0.id"
	placeholderReason = "holds a placeholder; write what your account has in its place, such as /accounts/AC123/messages, or a variable, such as " +
		"{account}: lower-case letters, digits and _ in braces"
	eventsReason = "is never looked for: a path before it is present wherever this one is"
	layoutReason = "is not a layout of a date; write 2006-01-02 15:04:05 as the service would, such as 02/01/2006 3:04PM"
)

func TestParseRefusesTableThatCannotWork(t *testing.T) {
	t.Parallel()
	withKeys := slices.Sorted(maps.Keys(table.Of(contract.Default()).SMSSend.Fields))
	withKeys = append(withKeys, table.GSM, table.Unicode)
	slices.Sort(withKeys)
	for name, tt := range map[string]struct{ overlay, path, reason string }{
		"token header empty":              {`{"auth":{"token":{"header":""}}}`, "auth.token.header", headerReason},
		"token header with a space":       {`{"auth":{"token":{"header":"X Token"}}}`, "auth.token.header", headerReason},
		"token header with a line break":  {`{"auth":{"token":{"header":"X\r\nY"}}}`, "auth.token.header", headerReason},
		"token header of net/http":        {`{"auth":{"token":{"header":"hOST"}}}`, "auth.token.header", ownHeaderReason},
		"token header that retries posts": {`{"auth":{"token":{"header":"Idempotency-Key"}}}`, "auth.token.header", "names a header that makes net/http retry a POST by itself"},
		"scheme of two words":             {`{"auth":{"token":{"scheme":"Bearer of"}}}`, "auth.token.scheme", "is not a single word"},
		"key pair nowhere":                {`{"auth":{"keyPair":{"in":""}}}`, "auth.keyPair.in", "unknown value; known: basic, body, header, query"},
		"key without a name":              {`{"auth":{"keyPair":{"key":""}}}`, "auth.keyPair.key", "is empty"},
		"key without a name in a header":  {`{"auth":{"keyPair":{"in":"header","key":"","secret":""}}}`, "auth.keyPair.key", headerReason},
		"key and secret of one name":      {`{"auth":{"keyPair":{"key":"apiSecret"}}}`, "auth.keyPair.secret", "has the same name as auth.keyPair.key"},
		"key and secret in one header":    {`{"auth":{"keyPair":{"in":"header","key":"X-Key","secret":"x-key"}}}`, "auth.keyPair.secret", "has the same name as auth.keyPair.key"},
		"key in a header of net/http":     {`{"auth":{"keyPair":{"in":"header","key":"Content-Length","secret":"X"}}}`, "auth.keyPair.key", ownHeaderReason},
		"secret in no header":             {`{"auth":{"keyPair":{"in":"header","key":"X","secret":"a:b"}}}`, "auth.keyPair.secret", headerReason},

		"error code path":           {`{"errors":{"code":["code","error."]}}`, "errors.code[1]", emptyPartReason},
		"error message path":        {`{"errors":{"message":["."]}}`, "errors.message[0]", emptyPartReason},
		"error message path's part": {`{"errors":{"message":["a..b"]}}`, "errors.message[0]", emptyPartReason},
		"error request path":        {`{"errors":{"request":["."]}}`, "errors.request[0]", emptyPartReason},
		"empty code":                {`{"errors":{"classes":{"invalid":[""]}}}`, "errors.classes.invalid[0]", "is empty"},
		"empty code of success":     {`{"errors":{"success":["0",""]}}`, "errors.success[1]", "is empty"},
		"code of success and class": {`{"errors":{"classes":{"invalid":["x","OK"]}}}`, "errors.classes.invalid[1]", `holds "ok" like the default errors.success[7]; ` + oneMeaning},
		"star inside a code":        {`{"errors":{"classes":{"invalid":["1","4*4"]}}}`, "errors.classes.invalid[1]", starReason},
		"two stars":                 {`{"errors":{"classes":{"invalid":["4**"]}}}`, "errors.classes.invalid[0]", starReason},
		"code of two classes":       {`{"errors":{"classes":{"notFound":["40002"]}}}`, "errors.classes.notFound[0]", `holds "40002" like the default errors.classes.rateLimited[0]; ` + oneMeaning},
		"status below 300":          {`{"errors":{"notProcessed":[429,299]}}`, "errors.notProcessed[1]", statusReason},
		"status above 599":          {`{"errors":{"notProcessed":[600]}}`, "errors.notProcessed[0]", statusReason},

		"path of an SMS":                {`{"sms.send":{"path":"sms/send"}}`, "sms.send.path", hostReason},
		"path of the list":              {`{"sms.list":{"path":""}}`, "sms.list.path", hostReason},
		"path of chat app 1":            {`{"chatapp1.send":{"path":""}}`, "chatapp1.send.path", hostReason},
		"path of chat app 2":            {`{"chatapp2.send":{"path":""}}`, "chatapp2.send.path", hostReason},
		"encoding of a callback":        {`{"webhook.sms":{"encoding":"GET"}}`, "webhook.sms.encoding", formsReason},
		"no encoding":                   {`{"sms.send":{"encoding":""}}`, "sms.send.encoding", formsReason},
		"unknown unit":                  {`{"chatapp2.send":{"ttl":"h"}}`, "chatapp2.send.ttl", "unknown value; known: m, ms, s"},
		"no unit":                       {`{"chatapp1.send":{"ttl":""}}`, "chatapp1.send.ttl", "unknown value; known: m, ms, s"},
		"unknown time":                  {`{"sms.list":{"time":"iso"}}`, "sms.list.time", timesReason},
		"unknown paging":                {`{"sms.list":{"paging":{"by":""}}}`, "sms.list.paging.by", "unknown value; known: cursor, none, offset, page"},
		"name with a control character": {`{"sms.send":{"fields":{"to":"t\u0000o"}}}`, "sms.send.fields.to", "holds a control character"},
		"name too long":                 {`{"sms.send":{"fields":{"to":"` + strings.Repeat("x", 257) + `"}}}`, "sms.send.fields.to", "is longer than 256 bytes"},
		"name with an empty part":       {`{"sms.send":{"fields":{"to":"a..b"}}}`, "sms.send.fields.to", emptyPartReason},
		"name that begins with a dot":   {`{"sms.send":{"fields":{"to":".a"}}}`, "sms.send.fields.to", emptyPartReason},
		"constant without a name":       {`{"sms.send":{"constants":{"":"x"}}}`, `sms.send.constants.""`, "is empty"},
		"constant that no form holds":   {`{"sms.send":{"encoding":"form","constants":{"tags":["v4lue"]}}}`, "sms.send.constants.tags", formReason},
		"constant that no query holds":  {`{"chatapp1.send":{"encoding":"query","constants":{"app":{"v4lue":1}}}}`, "chatapp1.send.constants.app", formReason},
		"with that no form holds":       {`{"chatapp2.send":{"encoding":"form","with":{"ttl":{"policy":["v4lue"]}}}}`, "chatapp2.send.with.ttl.policy", formReason},
		"constant that no list holds":   {`{"sms.list":{"constants":{"app":[]}}}`, "sms.list.constants.app", formReason},
		"with of no field":              {`{"chatapp2.send":{"with":{"text":{"a":1}}}}`, "chatapp2.send.with.text", unknownKey("callback, fallbackFrom, fallbackText, reference, ttl")},
		"wrap with an empty part":       {`{"chatapp2.send":{"wrap":"a."}}`, "chatapp2.send.wrap", emptyPartReason},
		"response path":                 {`{"chatapp1.send":{"response":{"id":["id","a..b"]}}}`, "chatapp1.send.response.id[1]", emptyPartReason},
		"response path's part":          {`{"chatapp1.send":{"response":{"cost":["data..cost"]}}}`, "chatapp1.send.response.cost[0]", emptyPartReason},
		"blank accepted":                {`{"chatapp2.send":{"accepted":[""]}}`, "chatapp2.send.accepted[0]", "is empty"},

		"orders alike":       {`{"sms.list":{"orders":{"descending":"asc"}}}`, "sms.list.orders.descending", "has the same value as sms.list.orders.ascending"},
		"first page below 0": {`{"sms.list":{"paging":{"first":-1}}}`, "sms.list.paging.first", "is less than 0"},
		"no items":           {`{"sms.list":{"items":[]}}`, "sms.list.items", "names no path; the response itself is an empty path"},
		"items path":         {`{"sms.list":{"items":["","a..b"]}}`, "sms.list.items[1]", emptyPartReason},
		"page path":          {`{"sms.list":{"page":{"total":["",".a"]}}}`, "sms.list.page.total[1]", emptyPartReason},
		"page path's part":   {`{"sms.list":{"page":{"total":["a."]}}}`, "sms.list.page.total[0]", emptyPartReason},
		"record path":        {`{"sms.list":{"record":{"deliveryStatus":["a."]}}}`, "sms.list.record.deliveryStatus[0]", emptyPartReason},

		"inbound SMS parameter":        {`{"webhook.sms":{"params":{"keyword":[""]}}}`, "webhook.sms.params.keyword[0]", "is empty"},
		"inbound chat-app-1 parameter": {`{"webhook.chatapp1":{"params":{"mediaURL":["a",""]}}}`, "webhook.chatapp1.params.mediaURL[1]", "is empty"},
		"inbound chat-app-2 parameter": {`{"webhook.chatapp2":{"params":{"json":["\n"]}}}`, "webhook.chatapp2.params.json[0]", "holds a control character"},
		"delivery parameter":           {`{"webhook.delivery":{"params":{"kind":[""]}}}`, "webhook.delivery.params.kind[0]", "is empty"},
		"blank status":                 {`{"webhook.delivery":{"statuses":{"failed":[""]}}}`, "webhook.delivery.statuses.failed[0]", "is empty"},
		"status of two meanings":       {`{"webhook.delivery":{"statuses":{"sent":["QUEUED"]}}}`, "webhook.delivery.statuses.sent[0]", `holds "queued" like the default webhook.delivery.statuses.queued[0]; ` + oneMeaning},

		"placeholder":               {`{"webhook.delivery":{"placeholders":{"id":"%\n"}}}`, "webhook.delivery.placeholders.id", "holds a control character"},
		"position in a form":        {`{"sms.send":{"encoding":"form","fields":{"to":"to.0"}}}`, "sms.send.fields.to", positionReason},
		"position in a query":       {`{"sms.list":{"params":{"id":"ids.0.id"}}}`, "sms.list.params.id", positionReason},
		"position alone at the top": {`{"sms.send":{"fields":{"to":"0"}}}`, "sms.send.fields.to", topReason},
		"listing by a list":         {`{"sms.list":{"method":"POST","encoding":"json","params":{"from":"0.from"}}}`, "sms.list.params.from", topReason},

		"all codes of a class":   {`{"errors":{"classes":{"invalid":["*"]}}}`, "errors.classes.invalid[0]", "means every word; write the codes of the class, or prefixes of them such as 40*"},
		"all codes of success":   {`{"errors":{"success":["0","*"]}}`, "errors.success[1]", "means every word; write the codes that a response may hold although the message was accepted"},
		"all words accept":       {`{"sms.send":{"accepted":["*"]}}`, "sms.send.accepted[0]", allAccept},
		"all other words accept": {`{"sms.send":{"accepted":["ok","*"],"refused":["no"]}}`, "sms.send.accepted[1]", allAccept},
		"all words refuse":       {`{"sms.send":{"refused":["*"]}}`, "sms.send.refused[0]", "means every word; write the words of refusal: with any other the outcome is unknown, and not refused"},
		"neither ID nor status":  {`{"sms.send":{"response":{"id":[],"status":[]}}}`, "sms.send.response.id", noIDReason},
		"neither ID nor words":   {`{"sms.send":{"response":{"id":[]},"accepted":[]}}`, "sms.send.response.id", noIDReason},

		"reference as the ID, but not in the response": {`{"sms.list":{"record":{"id":["messageId"],"reference":["messageId"]}}}`, "sms.list.record.reference[0]", "holds the same as sms.list.record.id[0]; " + orItsID},
		"reference as one ID of two":                   {`{"sms.send":{"response":{"id":["messageId","id"],"reference":["messageId"]}}}`, "sms.send.response.reference[0]", "holds the same as sms.send.response.id[0]; " + orItsID},
		"reference as the ID, unsent":                  {`{"sms.send":{"fields":{"reference":""},"response":{"id":["messageId"],"reference":["messageId"]}}}`, "sms.send.response.reference[0]", "holds the same as sms.send.response.id[0]; " + orItsID},
		"reference as the ID of what came in":          {`{"sms.send":{"response":{"id":["messageId"],"reference":["messageId"]}},"webhook.sms":{"params":{"id":["messageId"],"reference":["messageId"]}}}`, "webhook.sms.params.reference[0]", "holds the same as webhook.sms.params.id[0]; " + orItsID},
		"reference as the ID of reports":               {`{"webhook.delivery":{"params":{"id":["messageId"],"reference":["messageId"]}}}`, "webhook.delivery.params.reference[0]", "holds the same as webhook.delivery.params.id[0]; " + orItsID},

		"request ID as the ID":    {`{"sms.send":{"response":{"id":["requestId"]}}}`, "sms.send.response.id[0]", `holds "requestId" like the default sms.send.response.request[1]; ` + oneValue},
		"ID as the reference":     {`{"sms.list":{"record":{"reference":["transactionId"]}}}`, "sms.list.record.reference[0]", `holds "transactionId" like the default sms.list.record.id[0]; ` + orItsID},
		"text as the sender":      {`{"webhook.sms":{"params":{"from":["message"]}}}`, "webhook.sms.params.from[0]", `holds "message" like the default webhook.sms.params.text[0]; ` + oneValue},
		"sender as the recipient": {`{"webhook.chatapp1":{"params":{"from":["s3cret"],"to":["s3cret"]}}}`, "webhook.chatapp1.params.to[0]", "holds the same as webhook.chatapp1.params.from[0]; " + oneValue},

		"position in brackets":        {`{"sms.send":{"fields":{"to":"messages[0].to"}}}`, "sms.send.fields.to", bracketsReason},
		"response path in brackets":   {`{"sms.send":{"response":{"id":["messages[0].id"]}}}`, "sms.send.response.id[0]", bracketsReason},
		"response path of JSONPath":   {`{"sms.send":{"response":{"id":["$.data.id"]}}}`, "sms.send.response.id[0]", dollarReason},
		"record path of JSON pointer": {`{"sms.list":{"record":{"id":["/data/id"]}}}`, "sms.list.record.id[0]", "begins with a slash; write members with dots between them, such as data.id"},

		"refused and accepted":         {`{"sms.send":{"refused":["Queued"]}}`, "sms.send.refused[0]", `holds "queued" like the default sms.send.accepted[4]; ` + oneMeaning},
		"star inside a refused word":   {`{"sms.send":{"refused":["*_REJECTED"]}}`, "sms.send.refused[0]", starReason},
		"star inside an accepted word": {`{"sms.send":{"accepted":["a*b"]}}`, "sms.send.accepted[0]", starReason},
		"star inside a success":        {`{"errors":{"success":["2*0"]}}`, "errors.success[0]", starReason},
		"star inside a status":         {`{"webhook.delivery":{"statuses":{"failed":["*x"]}}}`, "webhook.delivery.statuses.failed[0]", starReason},
		"refused without a status":     {`{"chatapp1.send":{"refused":["no"],"response":{"status":[]}}}`, "chatapp1.send.refused", "can never be met; write the paths of the status in chatapp1.send.response.status"},
		"word with white space":        {`{"sms.send":{"refused":["NO "]}}`, "sms.send.refused[0]", spaceReason},
		"code with white space":        {`{"errors":{"classes":{"invalid":[" 7"]}}}`, "errors.classes.invalid[0]", spaceReason},
		"prefix of success and class":  {`{"errors":{"success":["2001*"]}}`, "errors.success[0]", `holds "2001*" like the default errors.classes.invalid[0]; ` + oneMeaning},
		"prefix of two statuses":       {`{"webhook.delivery":{"statuses":{"failed":["E*"],"expired":["e*"]}}}`, "webhook.delivery.statuses.failed[0]", "holds the same as webhook.delivery.statuses.expired[0]; " + oneMeaning},
		"scale too large":              {`{"sms.send":{"scale":19}}`, "sms.send.scale", scaleReason},
		"scale too small":              {`{"sms.list":{"scale":-19}}`, "sms.list.scale", scaleReason},
		"unknown method":               {`{"sms.list":{"method":"PUT"}}`, "sms.list.method", "unknown value; known: GET, POST"},
		"body of a GET":                {`{"sms.list":{"encoding":"json"}}`, "sms.list.encoding", "needs a body, which a GET does not have; write query, or set sms.list.method to POST"},
		"unknown encoding of the list": {`{"sms.list":{"method":"POST","encoding":"xml"}}`, "sms.list.encoding", formsReason},
		"unknown time of a send":       {`{"chatapp1.send":{"time":"iso"}}`, "chatapp1.send.time", timesReason},
		"zone of a send":               {`{"chatapp2.send":{"zone":"Mars/Olympus"}}`, "chatapp2.send.zone", zoneReason},
		"cursor of the last row alone": {`{"sms.list":{"paging":{"by":"cursor"},"page":{"next":["$last."]}}}`, "sms.list.page.next[0]", "names no member of the last row; write it after $last., such as $last.id"},
		"cursor before another":        {`{"sms.list":{"paging":{"by":"cursor"},"page":{"next":["$last.id","next"]}}}`, "sms.list.page.next[0]", "must come last: every row has it, so no path after it would be tried"},
		"cursor without its paging":    {`{"sms.list":{"page":{"next":["$last.id"]}}}`, "sms.list.page.next[0]", "is a cursor; set sms.list.paging.by to cursor"},
		"cursor elsewhere":             {`{"sms.list":{"page":{"total":["$last.id"]}}}`, "sms.list.page.total[0]", dollarReason},
		"cursor with an empty part":    {`{"sms.list":{"paging":{"by":"cursor"},"page":{"next":["$last.a..b"]}}}`, "sms.list.page.next[0]", emptyPartReason},

		"header of the client":        {`{"headers":{"user-agent":"x"}}`, "headers.user-agent", ownHeaderReason},
		"header of a read":            {`{"headers":{"cache-CONTROL":"x"}}`, "headers.cache-CONTROL", ownHeaderReason},
		"header of an operation":      {`{"sms.list":{"headers":{"Content-Type":"x"}}}`, "sms.list.headers.Content-Type", ownHeaderReason},
		"header without a name":       {`{"headers":{"":"x"}}`, `headers.""`, headerReason},
		"header of the token":         {`{"auth":{"token":{"header":"X-Token"}},"sms.send":{"headers":{"x-token":"s3cret"}}}`, "sms.send.headers.x-token", "is the header of auth.token; credentials are options of the client"},
		"header of basic credentials": {`{"auth":{"token":{"header":"X-Token"}},"headers":{"authorization":"s3cret"}}`, "headers.authorization", "is a header for credentials, which are options of the client"},
		"header of the key":           {`{"auth":{"keyPair":{"in":"header","key":"X-Key","secret":""}},"headers":{"X-KEY":"s3cret"}}`, "headers.X-KEY", "is a header of auth.keyPair; credentials are options of the client"},
		"two headers of one name":     {`{"headers":{"X-App":"a","x-app":"b"}}`, "headers.x-app", "has the same name as headers.X-App"},
		"header with a line break":    {`{"headers":{"X-App":"a\u000ab"}}`, "headers.X-App", "holds a control character, which no header can"},
		"header with white space":     {`{"headers":{"X-App":" a"}}`, "headers.X-App", "has white space around its value, which no header keeps"},
		"header that is too long":     {`{"headers":{"X-App":"` + strings.Repeat("a", 1025) + `"}}`, "headers.X-App", "is longer than 1024 bytes"},

		"events within others":          {`{"webhook.delivery":{"events":["results","results.0"]}}`, "webhook.delivery.events[1]", eventsReason},
		"events twice":                  {`{"webhook.chatapp1":{"events":["results","results"]}}`, "webhook.chatapp1.events[1]", eventsReason},
		"events in brackets":            {`{"webhook.chatapp2":{"events":["results[]"]}}`, "webhook.chatapp2.events[0]", bracketsReason},
		"a * in a response":             {`{"sms.send":{"response":{"parts":["messages.*.parts"]}}}`, "sms.send.response.parts[0]", "holds a *; only id and status can: every element counts. Write a position, such as messages.0.parts"},
		"one page of any size":          {`{"sms.list":{"paging":{"by":"none"}}}`, "sms.list.paging.by", "is none, so that there is one page; write how many rows it can hold, such as \"most\": 50, or \"whole\": true if it holds all"},
		"one page that is two":          {`{"sms.list":{"paging":{"by":"none","most":50,"whole":true}}}`, "sms.list.paging.whole", "says that one page holds all rows, and sms.list.paging.most that it cannot"},
		"pages that are one":            {`{"sms.list":{"paging":{"most":50}}}`, "sms.list.paging.by", "must be none with most or whole, which describe the only page"},
		"rows of no word":               {`{"sms.list":{"only":{"direction":[]}}}`, "sms.list.only.direction", "has no words, so no row could be of this listing"},
		"rows of every word":            {`{"sms.list":{"only":{"direction":["*"]}}}`, "sms.list.only.direction[0]", "means every word; write the words of the rows of this listing"},
		"rows of no place":              {`{"sms.list":{"only":{"$.direction":["mt"]}}}`, "sms.list.only.$.direction", dollarReason},
		"a reply of no type":            {`{"webhook.sms":{"reply":{"type":"text"}}}`, "webhook.sms.reply.type", "is not a media type, such as text/plain"},
		"constants of another encoding": {`{"sms.send":{"with":{"latin1":{"dcs":3}}}}`, "sms.send.with.latin1", unknownKey(strings.Join(withKeys, ", "))},
		"encodings of a chat app":       {`{"chatapp1.send":{"encoding":{"gsm":{}}}}`, "chatapp1.send.encoding", "is an object; write a string, such as \"json\""},
		"a * in a request":              {`{"sms.send":{"fields":{"to":"messages.*.to"}}}`, "sms.send.fields.to", everyReason},
		"a * in a row":                  {`{"sms.list":{"record":{"id":["*"]}}}`, "sms.list.record.id[0]", everyReason},
		"events in lists of lists":      {`{"webhook.sms":{"events":["data.*.items"]}}`, "webhook.sms.events[0]", everyReason},
		"parameter of all elements":     {`{"webhook.sms":{"params":{"from":["data.*.from"]}}}`, "webhook.sms.params.from[0]", everyReason},
		"parameter through the events":  {`{"webhook.sms":{"events":["results"],"params":{"from":["from","results.0.from"]}}}`, "webhook.sms.params.from[1]", "leads through webhook.sms.events; write the rest of the path, from the event on"},
		"layout that is none":           {`{"sms.list":{"layouts":["DD/MM/YYYY"]}}`, "sms.list.layouts[0]", layoutReason},
		"layout of a day":               {`{"webhook.sms":{"layouts":["15:04"]}}`, "webhook.sms.layouts[0]", layoutReason},
		"layout of half a day":          {`{"webhook.delivery":{"layouts":["2006-01-02","2006-01-02 03:04"]}}`, "webhook.delivery.layouts[1]", layoutReason},
		"layout with a zone's letters":  {`{"sms.list":{"layouts":["2006-01-02 15:04 MST"]}}`, "sms.list.layouts[0]", "names a zone by letters; write -0700, or letters that never change, such as GMT"},
		"empty layout":                  {`{"sms.list":{"layouts":[""]}}`, "sms.list.layouts[0]", "is empty"},

		"zone of the list":           {`{"sms.list":{"zone":"Mars/Olympus"}}`, "sms.list.zone", zoneReason},
		"zone of inbound SMS":        {`{"webhook.sms":{"zone":"../UTC"}}`, "webhook.sms.zone", zoneReason},
		"zone of inbound chat app 1": {`{"webhook.chatapp1":{"zone":"x"}}`, "webhook.chatapp1.zone", zoneReason},
		"zone of inbound chat app 2": {`{"webhook.chatapp2":{"zone":"x"}}`, "webhook.chatapp2.zone", zoneReason},
		"zone of delivery":           {`{"webhook.delivery":{"zone":"x"}}`, "webhook.delivery.zone", zoneReason},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := contract.Parse([]byte(tt.overlay))
			assert.Equal(t, []contract.Error{{Path: tt.path, Reason: tt.reason}}, listed(t, err))
			assert.Zero(t, c)
		})
	}
}

func TestParseAcceptsTableThatCanWork(t *testing.T) {
	t.Parallel()
	for name, overlay := range map[string]string{
		"a bare token":                           `{"auth":{"token":{"header":"X-Api-Token","scheme":""}}}`,
		"basic without names":                    `{"auth":{"keyPair":{"in":"basic","key":"","secret":""}}}`,
		"key pair in headers":                    `{"auth":{"keyPair":{"in":"header","key":"X-Key","secret":"X-Secret"}}}`,
		"names of a key pair that is elsewhere":  `{"auth":{"keyPair":{"in":"basic"}},"sms.send":{"fields":{"to":"apiKey"}}}`,
		"key pair in the query, body of a send":  `{"auth":{"keyPair":{"in":"query"}},"sms.send":{"fields":{"to":"apiKey"}}}`,
		"fields side by side in an object":       `{"sms.send":{"fields":{"from":"party.from","to":"party.to"}}}`,
		"fields of which one name begins others": `{"sms.send":{"fields":{"from":"to","to":"top.to"}}}`,
		"constants beside a field in an object":  `{"sms.send":{"fields":{"from":"sender.id"},"constants":{"sender.kind":1}}}`,
		"dots that do not nest in a form":        `{"sms.send":{"encoding":"form","fields":{"from":"to.from","to":"to"}}}`,
		"dots that do not nest in a query":       `{"sms.list":{"params":{"from":"to.","to":"to"}}}`,
		"brackets":                               `{"sms.send":{"fields":{"from":"message[from]"}}}`,
		"no optional fields":                     `{"sms.send":{"fields":{"callback":"","reference":""}}}`,
		"name at its longest":                    `{"sms.send":{"fields":{"from":"` + strings.Repeat("x", 256) + `"}}}`,
		"the same name in two operations":        `{"chatapp1.send":{"fields":{"channel":"to","to":"from"}}}`,
		"a code and its prefix":                  `{"errors":{"classes":{"notFound":["200199"]}}}`,
		"a code twice in one class":              `{"errors":{"classes":{"notFound":["1","1"]}}}`,
		"codes that differ in case":              `{"errors":{"classes":{"notFound":["e1"],"invalid":["E1"]}}}`,
		"codes of success moved to a class":      `{"errors":{"success":["ok"],"classes":{"invalid":["0","200"]}}}`,
		"statuses at the bounds":                 `{"errors":{"notProcessed":[300,599]}}`,
		"nothing may be retried":                 `{"errors":{"notProcessed":[]}}`,
		"facts that no response holds":           `{"sms.send":{"response":{"id":[],"cost":[]}},"sms.list":{"page":{"total":[],"hasNext":[]}}}`,
		"a bare array":                           `{"sms.list":{"items":[""]}}`,
		"orders alike without their name":        `{"sms.list":{"params":{"order":""},"orders":{"ascending":"","descending":""}}}`,
		"a paging whose parameter has no name":   `{"sms.list":{"paging":{"by":"cursor"}}}`,
		"no zone":                                `{"sms.list":{"zone":""}}`,
		"a zone":                                 `{"webhook.delivery":{"zone":"Asia/Manila"}}`,
		"dots in what is no path": `{"errors":{"classes":{"invalid":["a..b"]}},"sms.send":{"accepted":["a..b"]},"webhook.sms":{"params":{"id":["a..b"]}},
			"webhook.delivery":{"params":{"id":["a..b"]},"statuses":{"failed":["a..b"]},"placeholders":{"id":"{{..id}}"}}}`,
		"lists in a request":             `{"sms.send":{"fields":{"from":"messages.0.from","to":"messages.0.to.0","text":"messages.0.text"},"constants":{"messages.0.to.1":"x","messages.1":{}}}}`,
		"a wrap in a list":               `{"chatapp2.send":{"wrap":"messages.0"}}`,
		"a member that is no position":   `{"sms.send":{"fields":{"from":"m.01","to":"m.to"}}}`,
		"a key alone":                    `{"auth":{"keyPair":{"in":"query","key":"key","secret":""}}}`,
		"a key alone in a header":        `{"auth":{"keyPair":{"in":"header","key":"X-Key","secret":""}}}`,
		"headers":                        `{"headers":{"X-Api-Version":"3"},"sms.send":{"headers":{"x-api-version":"","X-App":"a b"}}}`,
		"money":                          `{"sms.send":{"scale":-18},"sms.list":{"scale":18,"record":{"price":["price.value"],"currency":["price.currency"]}}}`,
		"words and prefixes that refuse": `{"sms.send":{"accepted":["ok","q*"],"refused":["REJECTED*","3"]},"errors":{"success":["0*"]}}`,
		"a cursor from the last row":     `{"sms.list":{"paging":{"by":"cursor"},"params":{"cursor":"after"},"page":{"next":["next","$last.meta.id"]}}}`,
		"listing by POST":                `{"sms.list":{"method":"POST","encoding":"json","params":{"from":"filters.0.from","id":"filters.1.id"},"constants":{"filters.0.op":[1]}}}`,
		"listing by POST with a query":   `{"sms.list":{"method":"POST"}}`,
		"reference as the ID":            `{"sms.send":{"response":{"id":["messageId"],"reference":["messageId"]}},"sms.list":{"record":{"id":["messageId"],"reference":["messageId"]}},"webhook.delivery":{"params":{"id":["messageId"],"reference":["messageId"]}}}`,
		"events in a body of no event":   `{"webhook.sms":{"events":["","results","data"]}}`,
		"names of defaults":              `{"webhook.sms":{"params":{"to":["phone","to.number"],"reference":["id"]}}}`,
		"nested callbacks":               `{"webhook.sms":{"events":["data.events","results",""],"params":{"from":["data.from.phone","results.from"]}}}`,
		"layouts":                        `{"sms.list":{"layouts":["02/01/2006 15:04","Jan 2 2006 3:04PM","2006-01-02 15:04:05 GMT","20060102150405-0700"]}}`,
		"no placeholders":                `{"webhook.delivery":{"placeholders":{"status":"","id":"","reference":"","time":"","kind":"","from":"","to":""}}}`,
		"parameters shared by two facts": `{"webhook.sms":{"params":{"keyword":["text"]}}}`,
		"scalar constants in a form":     `{"sms.send":{"encoding":"form","constants":{"a":1,"b":"x","c":true}}}`,
	} {
		c, err := contract.Parse([]byte(overlay))
		assert.NoError(t, err, name)
		whole, err := json.Marshal(c)
		assert.NoError(t, err, name)
		again, err := contract.Parse(whole)
		assert.NoError(t, err, name)
		assert.Equal(t, table.Of(c), table.Of(again), name)
	}
}

func TestParseAcceptsEveryDocumentedChoice(t *testing.T) {
	t.Parallel()
	for format, values := range map[string]string{
		`{"sms.send":{"encoding":%q}}`:                 "json form query",
		`{"chatapp1.send":{"ttl":%q}}`:                 "s ms m",
		`{"sms.list":{"paging":{"by":%q,"most":50}}}`:  "none",
		`{"auth":{"keyPair":{"in":%q}}}`:               "body query header basic",
		`{"sms.list":{"paging":{"by":%q}}}`:            "page offset cursor",
		`{"sms.list":{"method":%q}}`:                   "GET POST",
		`{"sms.list":{"method":"POST","encoding":%q}}`: "query json form",
		`{"webhook.delivery":{"encoding":%q}}`:         "query json form",
		`{"sms.send":{"time":%q}}`:                     "rfc3339ms rfc3339 unix unixms datetime date rfc1123 rfc2822",
		`{"sms.list":{"time":%q}}`:                     "rfc3339ms rfc3339 unix unixms datetime date rfc1123 rfc2822",
	} {
		for value := range strings.FieldsSeq(values) {
			_, err := contract.Parse(fmt.Appendf(nil, format, value))
			assert.NoError(t, err, value)
		}
	}
}

func TestParseKeepsPathsOnTheHost(t *testing.T) {
	t.Parallel()
	parse := func(path string) error {
		quoted, err := json.Marshal(path)
		assert.NoError(t, err)
		_, err = contract.Parse([]byte(`{"sms.send":{"path":` + string(quoted) + `}}`))
		return err
	}
	for path, reason := range map[string]string{
		"":                      hostReason,
		"send":                  hostReason,
		"https://example.com/x": hostReason,
		"//example.com/x":       backslashReason,
		"/%2Fexample.com/x":     backslashReason,
		`/\example.com/x`:       backslashReason,
		"/%5Cexample.com/x":     backslashReason,
		"/send?x=1":             queryReason,
		"/send#x":               queryReason,
		"/a b":                  blankReason,
		"/a\u00a0b":             blankReason,
		"/a\r\nb":               blankReason,
		"/a\x7f":                blankReason,
		"/a%0ab":                "holds an escaped control character",
		"/a%zz":                 "has a % that is not part of an escape such as %20",
		"/..":                   segmentReason,
		"/a/../b":               segmentReason,
		"/a/%2E%2e/b":           segmentReason,
		"/a%2f..%2fb":           segmentReason,
		"/a/./b":                segmentReason,
		"/accounts/{Account}/m": placeholderReason,
		"/accounts/{}/m":        placeholderReason,
		"/accounts/{{a}}/m":     placeholderReason,
		"/accounts/:account/m":  placeholderReason,
		"/accounts/<account>":   placeholderReason,
		"/../{account}":         segmentReason,
	} {
		assert.Equal(t, []contract.Error{{Path: "sms.send.path", Reason: reason}}, listed(t, parse(path)), "%q", path)
	}
	for _, path := range []string{"/", "/a", "/v1/a/b/", "/a//b", "/a%20b", "/a..b/...", "/a:b@c", "/ä"} {
		assert.NoError(t, parse(path), "%q", path)
	}
}

func TestParseRefusesHeadersThatTheClientWrites(t *testing.T) {
	t.Parallel()
	for _, header := range []string{
		"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host", "Keep-Alive",
		"Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "X-Idempotency-Key",
	} {
		_, err := contract.Parse(fmt.Appendf(nil, `{"auth":{"token":{"header":%q}}}`, header))
		assert.Len(t, listed(t, err), 1, header)
	}
}
