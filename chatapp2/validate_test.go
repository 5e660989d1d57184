package chatapp2

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/sms"
)

// What a broken rule is: a fault of structure, or a limit, which messaging.WithLenientLimits lets pass.
const (
	validFault = false
	validLimit = true
)

// validRule is a message that breaks one rule.
type validRule struct {
	message Message
	field   string
	reason  string // a part of it
	limit   bool
}

func validDoes(action Action) Message { return goldenTo(validInteractive(action)) }

func validFills(components ...Component) Message { return goldenTo(validTemplate(components...)) }

// validWith changes a message that is in order.
func validWith(change func(m *Message)) Message {
	m := goldenTo(Text{Body: "Hi"})
	change(&m)
	return m
}

// validChanged returns a changed copy of a part of a message.
func validChanged[T any](part T, change func(part *T)) T {
	change(&part)
	return part
}

// validRefused checks that a message has this problem and no other.
func validRefused(t *testing.T, name string, rule validRule) {
	t.Helper()
	problems := problemsOf(rule.message)
	if !assert.Len(t, problems, 1, name) {
		return
	}
	assert.Equal(t, rule.field, problems[0].Field, name)
	assert.Contains(t, problems[0].Reason, rule.reason, name)
	assert.Equal(t, rule.limit, problems[0].Limit, "%s: whether it is a limit", name)
	assert.NoError(t, validResolve(reflect.ValueOf(rule.message), problems[0].Field), name)
}

func validAllRefused(t *testing.T, rules map[string]validRule) {
	t.Helper()
	for name, rule := range rules {
		validRefused(t, name, rule)
	}
}

// validResolve follows a path through a message as Go reads it. An error means that the path leads nowhere.
func validResolve(v reflect.Value, path string) error {
	for path != "" {
		for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		path = strings.TrimPrefix(path, ".")
		switch {
		case strings.HasPrefix(path, `["`):
			key, err := strconv.QuotedPrefix(path[1:])
			if err != nil {
				return err
			}
			name, _ := strconv.Unquote(key)
			v, path = v.MapIndex(reflect.ValueOf(name)), path[len(key)+2:]
		case path[0] == '[':
			inside, rest, _ := strings.Cut(path[1:], "]")
			index, err := strconv.Atoi(inside)
			if err != nil || index >= v.Len() {
				return fmt.Errorf("no index %s", inside)
			}
			v, path = v.Index(index), rest
		default:
			end := strings.IndexAny(path+".", ".[")
			if v.Kind() != reflect.Struct || !v.FieldByName(path[:end]).IsValid() {
				return fmt.Errorf("no field %s", path[:end])
			}
			v, path = v.FieldByName(path[:end]), path[end:]
		}
	}
	return nil
}

func TestEnvelopeRules(t *testing.T) {
	t.Parallel()
	text := Text{Body: "Hi"}
	to := func(number string) Message { return Message{To: number, Content: text} }
	recipient := func(id string) Message { return Message{Recipient: id, Content: text} }
	const digits, userID = "want 5 to 15 digits with an optional leading +, got ", "want two letters, a dot, and at most 128 letters and digits"
	validAllRefused(t, map[string]validRule{
		"no content": {Message{To: "+639171234567"}, "Content", "required, but nil", validFault},

		"no recipient":               {to(""), "To", "required, but absent", validFault},
		"two numbers":                {to("639171234567,639181234567"), "To", digits + "a separator", validFault},
		"a number with spaces":       {to("+63 917 123 4567"), "To", digits + "white space", validLimit},
		"a number with hyphens":      {to("+63-917-1234567"), "To", digits + "punctuation", validLimit},
		"a number with letters":      {to("0917CALLME"), "To", digits + "a character that is not a digit", validFault},
		"a number of 4 digits":       {to("+1234"), "To", digits + "4 digits", validFault},
		"two numbers with a space":   {to("639171234567 639181234567"), "To", digits + "white space", validFault},
		"a number of 16 digits":      {to("1234567890123456"), "To", digits + "16 digits", validFault},
		"two user IDs":               {Message{To: "US.1349", Recipient: "US.1350", Content: text}, "Recipient", "must be empty if To is the ID of a user", validFault},
		"a user ID with a space":     {to("US. 1349"), "To", digits, validFault},
		"the ID of a group":          {to("Y2FwaV9ncm91cDox"), "To", digits, validFault},
		"a user ID without a dot":    {recipient("US1349"), "Recipient", userID, validLimit},
		"a user ID of three letters": {recipient("USA.1349"), "Recipient", userID, validLimit},
		"a user ID without an end":   {recipient("US."), "Recipient", userID, validLimit},
		"a user ID without a begin":  {recipient(".1349"), "Recipient", userID, validLimit},
		"a user ID with a hyphen":    {recipient("US.13-49"), "Recipient", userID, validLimit},
		"a user ID in small letters": {recipient("us.1349"), "Recipient", userID, validLimit},
		"a user ID of 129":           {recipient("US." + strings.Repeat("1", 129)), "Recipient", userID, validLimit},
		"a number in Recipient":      {recipient("+639171234567"), "Recipient", userID, validLimit},

		"a reaction that quotes": {
			validWith(func(m *Message) { m.Content, m.ReplyTo = Reaction{MessageID: "wamid.A", Emoji: "👍"}, "wamid.B" }),
			"ReplyTo", "must be empty for a Reaction", validFault,
		},
		"a policy for a text": {validWith(func(m *Message) { m.MarketingOptions.ProductPolicy = "STRICT" }), "MarketingOptions", "without a Template", validFault},
		"sharing of a text":   {validWith(func(m *Message) { m.MarketingOptions.ActivitySharing = new(false) }), "MarketingOptions", "without a Template", validFault},
		"a policy for an action": {validWith(func(m *Message) {
			m.Content, m.MarketingOptions.ProductPolicy = validInteractive(validButtons()), "STRICT"
		}), "MarketingOptions", "without a Template", validFault},
		"a policy that is unknown": {validWith(func(m *Message) { m.Content, m.MarketingOptions.ProductPolicy = validTemplate(), "strict" }), "MarketingOptions.ProductPolicy", `"CLOUD_API_FALLBACK" or "STRICT"`, validLimit},

		"a TTL below zero":             {validWith(func(m *Message) { m.TTL = -time.Second }), "TTL", "must not be negative", validFault},
		"a fallback without a sender":  {validWith(func(m *Message) { m.Fallback = &sms.Fallback{Text: "Hi"} }), "Fallback.From", "required", validFault},
		"a fallback without a text":    {validWith(func(m *Message) { m.Fallback = &sms.Fallback{From: "ACME"} }), "Fallback.Text", "required", validFault},
		"a fallback of a blank sender": {validWith(func(m *Message) { m.Fallback = &sms.Fallback{From: " ", Text: "Hi"} }), "Fallback.From", "white space", validFault},
		"a callback without a scheme":  {validWith(func(m *Message) { m.CallbackURL = "shop.example.com/dlr" }), "CallbackURL", "absolute URL", validFault},
		"a callback of another scheme": {validWith(func(m *Message) { m.CallbackURL = "ftp://shop.example.com/dlr" }), "CallbackURL", "absolute URL", validFault},
		"a callback with a break":      {validWith(func(m *Message) { m.CallbackURL = "https://shop.example.com/\r\n" }), "CallbackURL", "white space", validFault},
	})
	for _, fine := range []Message{
		to("12345"), to("+12345"), to("123456789012345"), to("+123456789012345"),
		recipient("US." + strings.Repeat("a", 128)), recipient("PH.ENT." + strings.Repeat("1", 128)),
		validWith(func(m *Message) { m.CallbackURL = "https://shop.example.com?s=%s&id=%i&100%" }),
		validWith(func(m *Message) { m.TTL = 365 * 24 * time.Hour }),
		validWith(func(m *Message) { m.Fallback = &sms.Fallback{From: "ACME", Text: " "} }),
	} {
		raw, err := json.Marshal(fine)
		require.NoError(t, err)
		assert.Empty(t, problemsOf(fine), "%s", raw)
	}
}

func TestContentRules(t *testing.T) {
	t.Parallel()
	contact := func(change func(c *Contact)) Message {
		c := Contact{Name: ContactName{FormattedName: "Ana", FirstName: "Ana"}}
		change(&c)
		return goldenTo(Contacts{{Name: ContactName{FormattedName: "Bo", LastName: "Bo"}}, c})
	}
	rules := map[string]validRule{
		"latitude above":            {goldenTo(Location{Latitude: 90.0001}), "Content.Latitude", "want degrees from -90 to 90", validFault},
		"latitude below":            {goldenTo(Location{Latitude: -90.0001}), "Content.Latitude", "want degrees from -90 to 90", validFault},
		"longitude above":           {goldenTo(Location{Longitude: 180.0001}), "Content.Longitude", "want degrees from -180 to 180", validFault},
		"longitude below":           {goldenTo(Location{Longitude: -180.0001}), "Content.Longitude", "want degrees from -180 to 180", validFault},
		"a name alone":              {contact(func(c *Contact) { c.Name.FirstName = "" }), "Content[1].Name", "at least one field besides FormattedName", validLimit},
		"a birthday by the day":     {contact(func(c *Contact) { c.Birthday = "18-08-2012" }), "Content[1].Birthday", "YYYY-MM-DD", validLimit},
		"a birthday that never was": {contact(func(c *Contact) { c.Birthday = "2013-02-29" }), "Content[1].Birthday", "YYYY-MM-DD", validLimit},
		"a birthday with a time":    {contact(func(c *Contact) { c.Birthday = "2012-08-18T00:00:00Z" }), "Content[1].Birthday", "YYYY-MM-DD", validLimit},
		"raw content without JSON":  {goldenTo(Raw{Type: "poll"}), "Content.JSON", "required, but absent", validFault},
		"raw content not UTF-8":     {goldenTo(Raw{Type: "poll", JSON: json.RawMessage("\"\xff\"")}), "Content.JSON", "UTF-8", validFault},
	}
	for name, emoji := range map[string]string{
		"a letter": "a", "a digit": "1", "a word": "thumbsup", "two emoji": "👍👍", "an emoji and a letter": "👍a", "a letter and an emoji": "a👍",
		"two flags": "🇵🇭🇯🇵", "half a flag": "🇵", "a flag and an emoji": "🇵🇭👍", "an emoji and a space": "👍 ", "a joiner at the end": "👍\u200d",
		"an escape": `\ud83d\udc4d`, "a smile of old": ":-)", "a joiner alone": "\u200d", "a keycap alone": "\u20e3",
	} {
		rules["a reaction with "+name] = validRule{goldenTo(Reaction{MessageID: "wamid.A", Emoji: emoji}), "Content.Emoji", "want one emoji", validLimit}
	}
	for _, key := range []string{
		"messaging_product", "recipient_type", "to", "recipient", "context", "type", "biz_opaque_callback_data", "product_policy", "message_activity_sharing",
	} {
		rules["raw content in the place of "+key] = validRule{goldenTo(Raw{Type: key, JSON: json.RawMessage(`{}`)}), "Content.Type", "must not be the name of a member", validFault}
	}
	for path, medium := range validMedia() {
		rules[path+" without a source"] = validRule{medium(Media{}), path, "want exactly one of ID and Link, got none", validFault}
		rules[path+" with two sources"] = validRule{medium(Media{ID: "1", Link: "https://a.example"}), path, "want exactly one of ID and Link, got both", validFault}
	}
	validAllRefused(t, rules)

	for name, field := range map[string]func(*Location, float64){
		"Content.Latitude":  func(l *Location, degrees float64) { l.Latitude = degrees },
		"Content.Longitude": func(l *Location, degrees float64) { l.Longitude = degrees },
	} {
		for _, degrees := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			var l Location
			field(&l, degrees)
			problems := problemsOf(goldenTo(l))
			require.NotEmpty(t, problems, "%v", degrees)
			assert.Equal(t, name, problems[0].Field, "%v", degrees)
			_, err := json.Marshal(goldenTo(l))
			assert.Error(t, err, "%v", degrees)
		}
	}
}

// validMedia returns a message for every place of a medium, by its path.
func validMedia() map[string]func(m Media) Message {
	header := func(header func(m Media) Header) func(Media) Message {
		return func(m Media) Message { return goldenTo(validWithHeader(header(m), validButtons())) }
	}
	card := func(header func(m Media) Header) func(Media) Message {
		return func(m Media) Message {
			k := validCarousel(2)
			k.Cards[1].Header = header(m)
			return validDoes(k)
		}
	}
	parameter := func(parameter func(m Media) Parameter) func(Media) Message {
		return func(m Media) Message { return validFills(Body("Ana"), TemplateHeader{parameter(m)}) }
	}
	return map[string]func(m Media) Message{
		"Content":                         func(m Media) Message { return goldenTo(Sticker{m}) },
		"Content.Header":                  header(func(m Media) Header { return Document{Media: m} }),
		"Content.Action.Cards[1].Header":  card(func(m Media) Header { return Image{Media: m} }),
		"Content.Components[1].Parameter": parameter(func(m Media) Parameter { return GIF{m} }),
	}
}

func TestMediaNeedExactlyOneSource(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(m Media) (content Content, header Header, parameter Parameter){
		"Image":    func(m Media) (Content, Header, Parameter) { i := Image{Media: m}; return i, i, i },
		"Video":    func(m Media) (Content, Header, Parameter) { v := Video{Media: m}; return v, v, v },
		"Document": func(m Media) (Content, Header, Parameter) { d := Document{Media: m}; return d, d, d },
		"Audio":    func(m Media) (Content, Header, Parameter) { return Audio{Media: m}, nil, nil },
		"Sticker":  func(m Media) (Content, Header, Parameter) { return Sticker{m}, nil, nil },
		"GIF":      func(m Media) (Content, Header, Parameter) { return nil, nil, GIF{m} },
	} {
		for source, m := range map[string]Media{"none": {}, "both": {ID: "1", Link: "https://a.example"}} {
			content, header, parameter := of(m)
			if content != nil {
				validRefused(t, name, validRule{goldenTo(content), "Content", "got " + source, validFault})
			}
			if header != nil {
				validRefused(t, name, validRule{goldenTo(validWithHeader(header, validButtons())), "Content.Header", "got " + source, validFault})
			}
			if parameter != nil {
				validRefused(t, name, validRule{validFills(TemplateHeader{parameter}), "Content.Components[0].Parameter", "got " + source, validFault})
			}
		}
	}
}

func TestMediaInAHeaderTakeNoCaption(t *testing.T) {
	t.Parallel()
	m := Media{ID: "1"}
	const reason = "a header has no caption"
	for _, image := range []Header{Image{m, "x"}, Video{m, "x"}, Document{m, "x", ""}} {
		name := reflect.TypeOf(image).String()
		validRefused(t, name, validRule{goldenTo(validWithHeader(image, validButtons())), "Content.Header.Caption", reason, validFault})
		validRefused(t, name, validRule{validFills(TemplateHeader{image.(Parameter)}), "Content.Components[0].Parameter.Caption", reason, validFault})
		if strings.Contains(name, "Document") {
			continue // no header of a card
		}
		k := validCarousel(2)
		if _, isVideo := image.(Video); isVideo {
			k.Cards[0].Header = Video{Media: m}
		}
		k.Cards[1].Header = image
		validRefused(t, name, validRule{validDoes(k), "Content.Action.Cards[1].Header.Caption", reason, validFault})
	}
}

// validCarousel has so many cards with a link.
func validCarousel(cards int) Carousel {
	k := Carousel{Cards: make([]Card, cards)}
	for i := range k.Cards {
		k.Cards[i] = Card{Header: validImage(), Action: CTAURL{DisplayText: "See", URL: "https://shop.example.com/" + strconv.Itoa(i)}}
	}
	return k
}

// validCards is a carousel of a good card and this one.
func validCards(first, second Card) Message { return validDoes(Carousel{Cards: []Card{first, second}}) }

func TestActionRules(t *testing.T) {
	t.Parallel()
	list := func(change func(l *List)) Message {
		l := List{Button: "Times", Sections: []Section{
			{Title: "Today", Rows: []Row{{ID: "1", Title: "Nine"}}}, {Title: "Tomorrow", Rows: []Row{{ID: "2", Title: "Nine"}}},
		}}
		change(&l)
		return validDoes(l)
	}
	products := func(change func(p *ProductList)) Message {
		p := ProductList{CatalogID: "8", Sections: []ProductSection{
			{Title: "Tables", Products: []ProductItem{{"1"}}}, {Title: "Chairs", Products: []ProductItem{{"2"}}},
		}}
		change(&p)
		return goldenTo(validWithHeader(HeaderText{Text: "Shop"}, p))
	}
	flow := func(change func(f *Flow)) Message {
		return validDoes(validChanged(Flow{ID: "1413", CTA: "Book", Screen: "DATES"}, change))
	}
	link := Card{Header: validImage(), Action: CTAURL{DisplayText: "See", URL: "https://a.example"}}
	card := func(change func(k *Card)) Message { return validCards(link, validChanged(link, change)) }
	quick := Card{Header: validImage(), Action: ReplyButtons{{ID: "1", Title: "Yes"}}}
	product := Card{Action: Product{CatalogID: "8", ProductRetailerID: "1"}}
	const object = "want a JSON object that is not empty"
	validAllRefused(t, map[string]validRule{
		"no action":            {goldenTo(Interactive{Body: "x"}), "Content.Action", "required, but nil", validFault},
		"raw without JSON":     {validDoes(RawAction{Type: "poll"}), "Content.Action.JSON", "required, but absent", validFault},
		"raw that is no UTF-8": {validDoes(RawAction{Type: "poll", JSON: json.RawMessage("\"\xff\"")}), "Content.Action.JSON", "UTF-8", validFault},

		"the same button ID":     {validDoes(ReplyButtons{{"1", "A"}, {"2", "B"}, {"1", "C"}}), "Content.Action[2].ID", "must differ from the others, but equals that of index 0", validFault},
		"the same button title":  {validDoes(ReplyButtons{{"1", "A"}, {"2", "B"}, {"3", "B"}}), "Content.Action[2].Title", "equals that of index 1", validFault},
		"a space before an ID":   {validDoes(ReplyButtons{{" 1", "A"}}), "Content.Action[0].ID", "white space around it", validLimit},
		"a newline behind an ID": {validDoes(ReplyButtons{{"1\n", "A"}}), "Content.Action[0].ID", "white space around it", validLimit},

		"the same row ID":           {list(func(l *List) { l.Sections[0].Rows = append(l.Sections[0].Rows, l.Sections[0].Rows[0]) }), "Content.Action.Sections[0].Rows[1].ID", "must differ from the others", validFault},
		"a section without a title": {list(func(l *List) { l.Sections[1].Title = "" }), "Content.Action.Sections[1].Title", "required", validFault},
		"a section of no rows":      {list(func(l *List) { l.Sections[1].Rows = nil }), "Content.Action.Sections[1].Rows", "required, but empty", validFault},

		"a link without a URL":    {validDoes(CTAURL{DisplayText: "See"}), "Content.Action.URL", "required, but absent", validFault},
		"a link without a scheme": {validDoes(CTAURL{DisplayText: "See", URL: "a.example"}), "Content.Action.URL", "absolute URL", validFault},

		"a flow of no name":            {flow(func(f *Flow) { f.ID = "" }), "Content.Action", "want exactly one of ID and Name", validFault},
		"a flow of two names":          {flow(func(f *Flow) { f.Name = "booking" }), "Content.Action", "want exactly one of ID and Name", validFault},
		"a mode that is unknown":       {flow(func(f *Flow) { f.Mode = "test" }), "Content.Action.Mode", `"draft" or "published"`, validLimit},
		"an action that is unknown":    {flow(func(f *Flow) { f.Action = "open" }), "Content.Action.Action", `"navigate" or "data_exchange"`, validLimit},
		"data without a screen":        {flow(func(f *Flow) { f.Screen, f.Data = "", map[string]any{"a": 1} }), "Content.Action.Screen", "required", validFault},
		"data without a member":        {flow(func(f *Flow) { f.Data = map[string]any{} }), "Content.Action.Data", object, validFault},
		"data that is a list":          {flow(func(f *Flow) { f.Data = []int{1} }), "Content.Action.Data", object, validFault},
		"data that is a number":        {flow(func(f *Flow) { f.Data = 17 }), "Content.Action.Data", object, validFault},
		"data that is a nil map":       {flow(func(f *Flow) { f.Data = map[string]any(nil) }), "Content.Action.Data", object, validFault},
		"data that is a text":          {flow(func(f *Flow) { f.Data = "places" }), "Content.Action.Data", object, validFault},
		"data that is an empty text":   {flow(func(f *Flow) { f.Data = "" }), "Content.Action.Data", object, validFault},
		"a text of no members as data": {flow(func(f *Flow) { f.Data = " {} " }), "Content.Action.Data", object, validFault},
		"a text of a list as data":     {flow(func(f *Flow) { f.Data = "[1]" }), "Content.Action.Data", object, validFault},

		"a section of no products": {products(func(p *ProductList) { p.Sections[1].Products = nil }), "Content.Action.Sections[1].Products", "required, but empty", validFault},
		"products without a title": {products(func(p *ProductList) { p.Sections[0].Title = "" }), "Content.Action.Sections[0].Title", "required", validFault},

		"a card of no action":            {card(func(k *Card) { k.Action = nil }), "Content.Action.Cards[1].Action", "required, but nil", validFault},
		"a card without a header":        {card(func(k *Card) { k.Header = nil }), "Content.Action.Cards[1].Header", "want an Image or a Video", validFault},
		"a card with a nil pointer":      {card(func(k *Card) { k.Header = (*Image)(nil) }), "Content.Action.Cards[1].Header", "not a pointer", validFault},
		"a card with a text above":       {card(func(k *Card) { k.Header = HeaderText{Text: "x"} }), "Content.Action.Cards[1].Header", "want an Image or a Video", validFault},
		"a card with a document":         {card(func(k *Card) { k.Header = Document{Media: Media{ID: "1"}} }), "Content.Action.Cards[1].Header", "want an Image or a Video", validFault},
		"a card of 3 line breaks":        {card(func(k *Card) { k.Body = "a\nb\nc\nd" }), "Content.Action.Cards[1].Body", "want at most 2 line breaks, got 3", validLimit},
		"a button among links":           {validCards(link, quick), "Content.Action.Cards[1].Action", "same kind as on the first card", validFault},
		"a link among buttons":           {validCards(quick, link), "Content.Action.Cards[1].Action", "same kind as on the first card", validFault},
		"a product among links":          {validCards(link, product), "Content.Action.Cards[1].Action", "same kind as on the first card", validFault},
		"one button more than before":    {validCards(quick, Card{Header: validImage(), Action: ReplyButtons{{"1", "A"}, {"2", "B"}}}), "Content.Action.Cards[1].Action", "with as many buttons", validFault},
		"the same ID on a card":          {validCards(Card{Header: validImage(), Action: ReplyButtons{{"1", "A"}, {"2", "B"}}}, Card{Header: validImage(), Action: ReplyButtons{{"1", "A"}, {"1", "B"}}}), "Content.Action.Cards[1].Action[1].ID", "must differ", validFault},
		"the same title on a card":       {validCards(Card{Header: validImage(), Action: ReplyButtons{{"1", "A"}, {"2", "B"}}}, Card{Header: validImage(), Action: ReplyButtons{{"1", "A"}, {"2", "A"}}}), "Content.Action.Cards[1].Action[1].Title", "must differ", validFault},
		"a product of another catalog":   {validCards(product, Card{Action: Product{CatalogID: "9", ProductRetailerID: "1"}}), "Content.Action.Cards[1].Action", "of the same catalog", validFault},
		"a product with a header":        {validCards(product, Card{Header: validImage(), Action: product.Action}), "Content.Action.Cards[1].Header", "must be nil on a card of a Product", validFault},
		"a product with a body":          {validCards(product, Card{Body: "x", Action: product.Action}), "Content.Action.Cards[1].Body", "must be empty on a card of a Product", validFault},
		"a card's link without a target": {card(func(k *Card) { k.Action = CTAURL{DisplayText: "See"} }), "Content.Action.Cards[1].Action.URL", "required", validFault},
	})
}

// Which header an action takes, as the platform documents it.
func TestActionHeaders(t *testing.T) {
	t.Parallel()
	headers := map[string]Header{
		"": nil, "text": HeaderText{Text: "Order 17"}, "image": validImage(), "video": Video{Media: Media{ID: "1"}},
		"document": Document{Media: Media{ID: "1"}, FileName: "a.pdf"},
	}
	const none, text, needed = "must be nil with this action", "must be a HeaderText with this action", "required with this action"
	everything := map[string]string{}
	nothing := map[string]string{"text": none, "image": none, "video": none, "document": none}
	for name, tt := range map[string]struct {
		action  Action
		refused map[string]string // what is refused, and why
	}{
		"ReplyButtons":    {validButtons(), everything},
		"CTAURL":          {CTAURL{DisplayText: "See", URL: "https://a.example"}, everything},
		"Flow":            {Flow{ID: "1", CTA: "Book"}, everything},
		"RawAction":       {RawAction{Type: "poll", JSON: json.RawMessage(`{}`)}, everything},
		"List":            {List{Button: "b", Sections: []Section{{Rows: []Row{{ID: "1", Title: "a"}}}}}, map[string]string{"image": text, "video": text, "document": text}},
		"ProductList":     {ProductList{CatalogID: "8", Sections: []ProductSection{{Products: []ProductItem{{"1"}}}}}, map[string]string{"": needed, "image": text, "video": text, "document": text}},
		"LocationRequest": {LocationRequest{}, nothing},
		"Product":         {Product{CatalogID: "8", ProductRetailerID: "1"}, nothing},
		"CatalogMessage":  {CatalogMessage{}, nothing},
		"Carousel":        {validCarousel(2), nothing},
	} {
		for kind, header := range headers {
			message := goldenTo(validWithHeader(header, tt.action))
			if reason := tt.refused[kind]; reason != "" {
				validRefused(t, name+" with "+kind, validRule{message, "Content.Header", reason, validFault})
			} else {
				assert.Empty(t, problemsOf(message), "%s with %s", name, kind)
			}
		}
	}
}

func TestActionBodies(t *testing.T) {
	t.Parallel()
	for _, g := range goldenActions() {
		i := g.message.Content.(Interactive)
		i.Body = ""
		_, isProduct := i.Action.(Product)
		_, isRaw := i.Action.(RawAction)
		if isProduct || isRaw {
			assert.Empty(t, problemsOf(goldenTo(i)), g.name)
		} else {
			validRefused(t, g.name, validRule{goldenTo(i), "Content.Body", "required, but absent", validFault})
		}
		most := 1024
		if _, isList := i.Action.(List); isList {
			most = 4096
		}
		i.Body = strings.Repeat("é", most)
		assert.Empty(t, problemsOf(goldenTo(i)), g.name)
		if i.Body += "é"; !isRaw {
			reason := fmt.Sprintf("want at most %d characters, got %d", most, most+1)
			validRefused(t, g.name, validRule{goldenTo(i), "Content.Body", reason, validLimit})
		}
		i.Body, i.Footer = "Hi", "Bye"
		if _, isCarousel := i.Action.(Carousel); isCarousel {
			validRefused(t, g.name, validRule{goldenTo(i), "Content.Footer", "must be empty", validFault})
		} else {
			assert.Empty(t, problemsOf(goldenTo(i)), g.name)
		}
	}
}

func TestTemplateRules(t *testing.T) {
	t.Parallel()
	quick := QuickReplyButton{}
	text := func(n int) TextParam { return TextParam{Text: strings.Repeat("é", n)} }
	products := func(change func(b *ProductsButton)) Message {
		return validFills(validChanged(ProductsButton{ThumbnailProductRetailerID: "1", Sections: []ProductSection{
			{Title: "Tables", Products: []ProductItem{{"1"}}}, {Title: "Chairs", Products: []ProductItem{{"2"}}},
		}}, change))
	}
	head, raw := TemplateHeader{validImage()}, RawComponent{json.RawMessage(`{"type":"x"}`)}
	offer := LimitedTimeOffer{ExpiresAt: time.UnixMilli(1)}
	const inHeader, inBody, another = "in a header", "in a body", "fills the same part as index 0"
	validAllRefused(t, map[string]validRule{
		"a name in capitals":       {goldenTo(Template{Name: "Order_ready", Language: "en"}), "Content.Name", "lower-case letters, digits and underscores", validLimit},
		"a name with a hyphen":     {goldenTo(Template{Name: "order-ready", Language: "en"}), "Content.Name", "lower-case letters, digits and underscores", validLimit},
		"a name in another script": {goldenTo(Template{Name: "é", Language: "en"}), "Content.Name", "lower-case letters, digits and underscores", validLimit},
		"a policy that is unknown": {goldenTo(Template{Name: "a", Language: "en", Policy: "fallback"}), "Content.Policy", `want "deterministic"`, validLimit},
		"no component":             {validFills(quick, nil), "Content.Components[1]", "required, but nil", validFault},

		"two headers":       {validFills(TemplateHeader{text(1)}, TemplateHeader{text(1)}), "Content.Components[1]", another, validFault},
		"two bodies":        {validFills(Body("a"), Body("b")), "Content.Components[1]", another, validFault},
		"two carousels":     {validFills(TemplateCards{{head}, {head}}, TemplateCards{{head}, {head}}), "Content.Components[1]", another, validFault},
		"two offers":        {validFills(offer, offer), "Content.Components[1]", another, validFault},
		"two at one index":  {validFills(quick, URLButton{Suffix: "a"}), "Content.Components[1]", another, validFault},
		"two on a card":     {validFills(TemplateCards{{head, quick, quick}, {head, quick, raw}}), "Content.Components[0][0][2]", "fills the same part as index 1", validFault},
		"two codes to copy": {validFills(CopyCodeButton{Code: "A"}, CopyCodeButton{Index: 1, Code: "A"}), "Content.Components[1]", "at most one CopyCodeButton", validLimit},

		"a header of nothing":      {validFills(TemplateHeader{}), "Content.Components[0].Parameter", "required, but nil", validFault},
		"a currency as a header":   {validFills(TemplateHeader{Currency{FallbackValue: "1", Code: "USD"}}), "Content.Components[0].Parameter", inHeader, validFault},
		"a date as a header":       {validFills(TemplateHeader{DateTime{FallbackValue: "1"}}), "Content.Components[0].Parameter", inHeader, validFault},
		"a raw header of two":      {validFills(RawComponent{json.RawMessage(`{"type":"HEADER","parameters":[{},{}]}`)}), "Content.Components[0].JSON", "is not what the platform documents", validLimit},
		"a raw header of none":     {validFills(RawComponent{json.RawMessage(`{"type":"header","parameters":[]}`)}), "Content.Components[0].JSON", "is not what the platform documents", validLimit},
		"a raw offer of none":      {validFills(RawComponent{json.RawMessage(`{"type":"limited_time_offer"}`)}), "Content.Components[0].JSON", "is not what the platform documents", validLimit},
		"a raw component of none":  {validFills(RawComponent{}), "Content.Components[0].JSON", "required, but absent", validFault},
		"a raw parameter of none":  {validFills(TemplateBody{RawParameter{}}), "Content.Components[0][0].JSON", "required, but absent", validFault},
		"a raw header's parameter": {validFills(TemplateHeader{RawParameter{}}), "Content.Components[0].Parameter.JSON", "required, but absent", validFault},

		"an image in a body":    {validFills(TemplateBody{validImage()}), "Content.Components[0][0]", inBody, validFault},
		"a video in a body":     {validFills(TemplateBody{Video{Media: Media{ID: "1"}}}), "Content.Components[0][0]", inBody, validFault},
		"a document in a body":  {validFills(TemplateBody{Document{Media: Media{ID: "1"}}}), "Content.Components[0][0]", inBody, validFault},
		"a GIF in a body":       {validFills(TemplateBody{GIF{Media{ID: "1"}}}), "Content.Components[0][0]", inBody, validFault},
		"a location in a body":  {validFills(TemplateBody{Location{}}), "Content.Components[0][0]", inBody, validFault},
		"a product in a body":   {validFills(TemplateBody{Product{"8", "1"}}), "Content.Components[0][0]", inBody, validFault},
		"nothing in a body":     {validFills(TemplateBody{text(1), nil}), "Content.Components[0][1]", "required, but nil", validFault},
		"a name for one of two": {validFills(TemplateBody{Named("a", "1"), text(1)}), "Content.Components[0]", "a name on every parameter, or on none", validFault},
		"names of two kinds":    {validFills(TemplateBody{Named("a", "1"), Currency{FallbackValue: "1", Code: "USD"}}), "Content.Components[0]", "a name on every parameter, or on none", validFault},
		"the same name":         {validFills(TemplateBody{Named("a", "1"), DateTime{Name: "a", FallbackValue: "1"}}), "Content.Components[0][1].Name", "must differ", validFault},
		"a name in capitals, 2": {validFills(TemplateBody{Named("First_name", "1")}), "Content.Components[0][0].Name", "lower-case letters", validLimit},
		"a currency's name":     {validFills(TemplateBody{Currency{Name: "a b", FallbackValue: "1", Code: "USD"}}), "Content.Components[0][0].Name", "lower-case letters", validLimit},
		"a date's name":         {validFills(TemplateBody{DateTime{Name: "a.b", FallbackValue: "1"}}), "Content.Components[0][0].Name", "lower-case letters", validLimit},
		"a currency of 2":       {validFills(TemplateBody{Currency{FallbackValue: "1", Code: "US"}}), "Content.Components[0][0].Code", "ISO 4217", validLimit},
		"a currency in small":   {validFills(TemplateBody{Currency{FallbackValue: "1", Code: "usd"}}), "Content.Components[0][0].Code", "ISO 4217", validLimit},

		"a code with a hyphen":      {validFills(CopyCodeButton{Code: "25-OFF"}), "Content.Components[0].Code", "only letters and digits", validLimit},
		"a code in another script":  {validFills(CopyCodeButton{Code: "é"}), "Content.Components[0].Code", "only letters and digits", validLimit},
		"products without a title":  {products(func(b *ProductsButton) { b.Sections[1].Title = "" }), "Content.Components[0].Sections[1].Title", "required", validFault},
		"a section of no products":  {products(func(b *ProductsButton) { b.Sections[1].Products = nil }), "Content.Components[0].Sections[1].Products", "required, but empty", validFault},
		"a button's data as a list": {validFills(FlowButton{Data: []int{1}}), "Content.Components[0].Data", "want a JSON object that is not empty", validFault},
		"a button's data as a text": {validFills(FlowButton{Data: "places"}), "Content.Components[0].Data", "want a JSON object that is not empty", validFault},

		"cards on a card":         {validFills(TemplateCards{{head, TemplateCards{{head}, {head}}}, {head, raw}}), "Content.Components[0][0][1]", "must not be on a card", validFault},
		"a card of another kind":  {validFills(TemplateCards{{head, quick}, {TemplateHeader{Video{Media: Media{ID: "1"}}}, quick}}), "Content.Components[0][1]", "the same kind of header as the first card", validFault},
		"a card without a header": {validFills(TemplateCards{{head, quick}, {quick}}), "Content.Components[0][1]", "the same kind of header as the first card", validFault},
		"a code beside an offer":  {validFills(offer, CopyCodeButton{Code: strings.Repeat("A", 16)}), "Content.Components[1].Code", "want at most 15 characters, got 16", validLimit},
		"a one-time code of 16":   {validFills(URLButton{Suffix: strings.Repeat("1", 16), OneTimeCode: true}), "Content.Components[0].Suffix", "want at most 15 characters, got 16", validLimit},
		"an offer without an end": {validFills(LimitedTimeOffer{}), "Content.Components[0].ExpiresAt", "required, but absent", validFault},
	})
	for name, fine := range map[string]Message{
		"cards with and without a body":    validFills(TemplateCards{{head, Body("a"), quick}, {head, quick}}),
		"cards with different buttons":     validFills(TemplateCards{{head, quick, URLButton{Index: 1, Suffix: "a"}}, {head, URLButton{Suffix: "a"}}, {head}}),
		"a code of 15 beside an offer":     validFills(offer, CopyCodeButton{Code: strings.Repeat("A", 15)}),
		"a code of 20":                     validFills(CopyCodeButton{Code: strings.Repeat("A", 20)}),
		"a one-time code of 15":            validFills(URLButton{Suffix: strings.Repeat("1", 15), OneTimeCode: true}),
		"a suffix of 16, which is no code": validFills(Body(strings.Repeat("1", 16)), URLButton{Suffix: strings.Repeat("1", 16)}),
	} {
		assert.Empty(t, problemsOf(fine), name)
	}
}
