package chatapp2

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/sms"
)

// validText is a place of a text in a message.
type validText struct {
	path     string
	required bool
	most     int    // characters; 0 is no limit
	filler   string // one character that may stand there, if not any
	message  func(text string) Message
}

func validTexts() []validText {
	envelope := func(set func(m *Message, s string)) func(string) Message {
		return func(s string) Message { return validWith(func(m *Message) { set(m, s) }) }
	}
	content := func(of func(s string) Content) func(string) Message {
		return func(s string) Message { return goldenTo(of(s)) }
	}
	action := func(of func(s string) Action) func(string) Message {
		return func(s string) Message { return validDoes(of(s)) }
	}
	component := func(of func(s string) Component) func(string) Message {
		return func(s string) Message { return validFills(QuickReplyButton{Index: 9}, of(s)) }
	}
	parameter := func(of func(s string) Parameter) func(string) Message {
		return func(s string) Message { return validFills(QuickReplyButton{Index: 9}, TemplateBody{of(s)}) }
	}
	row := func(of func(s string) Row) func(string) Message {
		return action(func(s string) Action { return List{Button: "b", Sections: []Section{{Rows: []Row{of(s)}}}} })
	}
	card := func(of func(s string) Card) func(string) Message {
		return func(s string) Message {
			second := of(s)
			first := Card{Header: second.Header, Action: second.Action}
			if buttons, ok := second.Action.(ReplyButtons); ok {
				first.Action = ReplyButtons{{"first", "First"}}[:len(buttons)]
			}
			if _, ok := second.Action.(CTAURL); ok {
				first.Action = CTAURL{DisplayText: "See", URL: "https://a.example"}
			}
			if product, ok := second.Action.(Product); ok {
				first.Action = Product{CatalogID: product.CatalogID, ProductRetailerID: "1"}
			}
			return validCards(first, second)
		}
	}
	sections := func(title, id string) []ProductSection {
		return []ProductSection{{Title: title, Products: []ProductItem{{id}}}}
	}
	header := HeaderText{Text: "Shop"}
	media := Media{ID: "1"}
	return []validText{
		{"CallbackData", false, 512, "", envelope(func(m *Message, s string) { m.CallbackData = s })},
		{"ReferenceID", false, 0, "", envelope(func(m *Message, s string) { m.ReferenceID = s })},
		{"Fallback.From", true, 0, "", envelope(func(m *Message, s string) { m.Fallback = &sms.Fallback{From: s, Text: "Hi"} })},

		{"Content.Body", true, 4096, "", content(func(s string) Content { return Text{Body: s} })},
		{"Content.Caption", false, 1024, "", content(func(s string) Content { return Image{media, s} })},
		{"Content.Caption", false, 1024, "", content(func(s string) Content { return Video{media, s} })},
		{"Content.Caption", false, 1024, "", content(func(s string) Content { return Document{media, s, "a"} })},
		{"Content.FileName", false, 0, "", content(func(s string) Content { return Document{media, "a", s} })},
		{"Content.Name", false, 0, "", content(func(s string) Content { return Location{Name: s} })},
		{"Content.Address", false, 0, "", content(func(s string) Content { return Location{Address: s} })},
		{"Content[0].Name.FormattedName", true, 0, "", content(func(s string) Content { return Contacts{{Name: ContactName{FormattedName: s, FirstName: "a"}}} })},
		{"Content.MessageID", true, 0, "", content(func(s string) Content { return Reaction{MessageID: s} })},
		{"Content.Type", true, 0, "", content(func(s string) Content { return Raw{Type: s, JSON: json.RawMessage(`{}`)} })},

		{"Content.Body", true, 1024, "", content(func(s string) Content { return Interactive{Body: s, Action: validButtons()} })},
		{"Content.Body", true, 4096, "", content(func(s string) Content {
			return Interactive{Body: s, Action: List{Button: "b", Sections: []Section{{Rows: []Row{{ID: "1", Title: "a"}}}}}}
		})},
		{"Content.Body", true, 1024, "", content(func(s string) Content { return Interactive{Body: s, Action: validCarousel(2)} })},
		{"Content.Body", false, 1024, "", content(func(s string) Content { return Interactive{Body: s, Action: Product{"8", "1"}} })},
		{"Content.Footer", false, 60, "", content(func(s string) Content { return Interactive{Body: "a", Footer: s, Action: validButtons()} })},
		{"Content.Header.Text", true, 60, "", content(func(s string) Content { return validWithHeader(HeaderText{Text: s}, validButtons()) })},
		{"Content.Header.SubText", false, 60, "", content(func(s string) Content { return validWithHeader(HeaderText{"a", s}, validButtons()) })},
		{"Content.Header.FileName", false, 0, "", content(func(s string) Content { return validWithHeader(Document{Media: media, FileName: s}, validButtons()) })},

		{"Content.Action[0].ID", true, 256, "", action(func(s string) Action { return ReplyButtons{{s, "a"}} })},
		{"Content.Action[0].Title", true, 20, "", action(func(s string) Action { return ReplyButtons{{"a", s}} })},
		{"Content.Action.Button", true, 20, "", action(func(s string) Action {
			return List{Button: s, Sections: []Section{{Rows: []Row{{ID: "1", Title: "a"}}}}}
		})},
		{"Content.Action.Sections[0].Title", false, 24, "", action(func(s string) Action {
			return List{Button: "b", Sections: []Section{{Title: s, Rows: []Row{{ID: "1", Title: "a"}}}}}
		})},
		{"Content.Action.Sections[1].Title", true, 24, "", action(func(s string) Action {
			return List{Button: "b", Sections: []Section{{Title: "a", Rows: []Row{{ID: "1", Title: "a"}}}, {Title: s, Rows: []Row{{ID: "2", Title: "a"}}}}}
		})},
		{"Content.Action.Sections[0].Rows[0].ID", true, 200, "", row(func(s string) Row { return Row{s, "a", ""} })},
		{"Content.Action.Sections[0].Rows[0].Title", true, 24, "", row(func(s string) Row { return Row{"a", s, ""} })},
		{"Content.Action.Sections[0].Rows[0].Description", false, 72, "", row(func(s string) Row { return Row{"a", "a", s} })},
		{"Content.Action.DisplayText", true, 20, "", action(func(s string) Action { return CTAURL{DisplayText: s, URL: "https://a.example"} })},
		{"Content.Action.CTA", true, 30, "", action(func(s string) Action { return Flow{ID: "1", CTA: s} })},
		{"Content.Action.Screen", true, 0, "", action(func(s string) Action { return Flow{ID: "1", CTA: "a", Screen: s, Data: `{"a":1}`} })},
		{"Content.Action.Token", false, 0, "", action(func(s string) Action { return Flow{ID: "1", CTA: "a", Token: s} })},
		{"Content.Action.CatalogID", true, 0, "", action(func(s string) Action { return Product{s, "1"} })},
		{"Content.Action.ProductRetailerID", true, 0, "", action(func(s string) Action { return Product{"8", s} })},
		{"Content.Action.CatalogID", true, 0, "", content(func(s string) Content { return validWithHeader(header, ProductList{s, sections("", "1")}) })},
		{"Content.Action.Sections[0].Title", false, 24, "", content(func(s string) Content { return validWithHeader(header, ProductList{"8", sections(s, "1")}) })},
		{"Content.Action.Sections[1].Title", true, 24, "", content(func(s string) Content {
			return validWithHeader(header, ProductList{"8", append(sections("a", "1"), sections(s, "1")...)})
		})},
		{"Content.Action.Sections[0].Products[0].ProductRetailerID", true, 0, "", content(func(s string) Content {
			return validWithHeader(header, ProductList{"8", sections("", s)})
		})},
		{"Content.Action.ThumbnailProductRetailerID", false, 0, "", action(func(s string) Action { return CatalogMessage{s} })},
		{"Content.Action.Type", true, 0, "", action(func(s string) Action { return RawAction{s, json.RawMessage(`{}`)} })},

		{"Content.Action.Cards[1].Body", false, 160, "", card(func(s string) Card {
			return Card{Header: validImage(), Body: s, Action: CTAURL{DisplayText: "a", URL: "https://a.example"}}
		})},
		{"Content.Action.Cards[1].Action.DisplayText", true, 20, "", card(func(s string) Card {
			return Card{Header: validImage(), Body: "", Action: CTAURL{DisplayText: s, URL: "https://a.example"}}
		})},
		{"Content.Action.Cards[1].Action[0].ID", true, 256, "", card(func(s string) Card { return Card{Header: validImage(), Body: "", Action: ReplyButtons{{s, "a"}}} })},
		{"Content.Action.Cards[1].Action[0].Title", true, 20, "", card(func(s string) Card { return Card{Header: validImage(), Body: "", Action: ReplyButtons{{"a", s}}} })},
		{"Content.Action.Cards[1].Action.ProductRetailerID", true, 0, "", card(func(s string) Card { return Card{Action: Product{"8", s}} })},

		{"Content.Name", true, 512, "a", content(func(s string) Content { return Template{Name: s, Language: "en"} })},
		{"Content.Language", true, 0, "", content(func(s string) Content { return Template{Name: "a", Language: s} })},
		{"Content.Components[1].Payload", false, 0, "", component(func(s string) Component { return QuickReplyButton{Payload: s} })},
		{"Content.Components[1].Suffix", true, 2000, "", component(func(s string) Component { return URLButton{Suffix: s} })},
		{"Content.Components[1].Code", true, 20, "a", component(func(s string) Component { return CopyCodeButton{Code: s} })},
		{"Content.Components[1].ThumbnailProductRetailerID", false, 0, "", component(func(s string) Component { return CatalogButton{ThumbnailProductRetailerID: s} })},
		{"Content.Components[1].ThumbnailProductRetailerID", true, 0, "", component(func(s string) Component {
			return ProductsButton{ThumbnailProductRetailerID: s, Sections: sections("", "1")}
		})},
		{"Content.Components[1].Sections[0].Title", false, 24, "", component(func(s string) Component {
			return ProductsButton{ThumbnailProductRetailerID: "1", Sections: sections(s, "1")}
		})},
		{"Content.Components[1].Token", false, 0, "", component(func(s string) Component { return FlowButton{Token: s} })},
		{"Content.Components[1].Parameter.Name", true, 0, "", component(func(s string) Component { return TemplateHeader{Location{Name: s, Address: "a"}} })},
		{"Content.Components[1].Parameter.Address", true, 0, "", component(func(s string) Component { return TemplateHeader{Location{Name: "a", Address: s}} })},
		{"Content.Components[1].Parameter.Text", true, 0, "", component(func(s string) Component { return TemplateHeader{TextParam{Text: s[:min(len(s), 60)]}} })},
		{"Content.Components[1].Parameter.CatalogID", true, 0, "", component(func(s string) Component { return TemplateHeader{Product{s, "1"}} })},
		{"Content.Components[1][0].Text", true, 0, "", parameter(func(s string) Parameter { return TextParam{Text: s[:min(len(s), 600)]} })},
		{"Content.Components[1][0].FallbackValue", true, 0, "", parameter(func(s string) Parameter { return Currency{FallbackValue: s, Code: "USD"} })},
		{"Content.Components[1][0].FallbackValue", true, 0, "", parameter(func(s string) Parameter { return DateTime{FallbackValue: s} })},
		{"Content.Components[1][0].Calendar", false, 0, "", parameter(func(s string) Parameter { return DateTime{FallbackValue: "a", Calendar: s} })},
	}
}

func TestTextLimits(t *testing.T) {
	t.Parallel()
	for _, text := range validTexts() {
		fillers := []string{"a", "é", "😀", "漢"} // of 1, 2, 4 and 3 bytes
		most := text.most
		if text.filler != "" {
			fillers = []string{text.filler}
			most /= len(text.filler)
		}
		if most == 0 {
			assert.Empty(t, problemsOf(text.message("a")), text.path)
			continue
		}
		for _, filler := range fillers {
			fits := strings.Repeat(filler, most)
			assert.Empty(t, problemsOf(text.message(fits)), "%s: %d times %q", text.path, most, filler)
			if len(text.filler) > 1 {
				continue // a word of a set
			}
			validRefused(t, fmt.Sprintf("%s: %d times %q", text.path, most+1, filler), validRule{
				text.message(fits + filler), text.path, fmt.Sprintf("want at most %d characters, got %d", most, most+1), validLimit,
			})
		}
	}
}

func TestRequiredTextIsNotBlank(t *testing.T) {
	t.Parallel()
	for _, text := range validTexts() {
		if !text.required {
			assert.Empty(t, problemsOf(text.message("")), text.path)
			continue
		}
		for _, blank := range []string{"", " ", "\t\r\n", "\u00a0\u2003"} {
			problems := problemsOf(text.message(blank))
			if !assert.NotEmpty(t, problems, "%s: %q", text.path, blank) {
				continue
			}
			assert.Equal(t, text.path, problems[0].Field, "%q", blank)
			assert.Regexp(t, "required|white space", problems[0].Reason, "%s: %q", text.path, blank)
			assert.False(t, problems[0].Limit, "%s: %q", text.path, blank)
		}
	}
}

func TestTextLimitsOfAPart(t *testing.T) {
	t.Parallel()
	body := func(n int) TemplateBody {
		return TemplateBody{TextParam{Text: strings.Repeat("é", n-7)}, TextParam{Text: strings.Repeat("😀", 7)}}
	}
	head := TemplateHeader{validImage()}
	offer := LimitedTimeOffer{ExpiresAt: time.UnixMilli(1)}
	for name, tt := range map[string]struct {
		most    int
		field   string
		message func(n int) Message
	}{
		"a header": {60, "Content.Components[1].Parameter", func(n int) Message {
			return validFills(Body("a"), TemplateHeader{TextParam{Text: strings.Repeat("é", n)}})
		}},
		"a named header":  {60, "Content.Components[0].Parameter", func(n int) Message { return validFills(TemplateHeader{Named("a", strings.Repeat("😀", n))}) }},
		"a body":          {1024, "Content.Components[0]", func(n int) Message { return validFills(body(n), QuickReplyButton{}) }},
		"a body and head": {1024, "Content.Components[1]", func(n int) Message { return validFills(head, body(n)) }},
		"a body alone":    {32768, "Content.Components[0]", func(n int) Message { return validFills(body(n)) }},
		"an offer's body": {600, "Content.Components[1]", func(n int) Message { return validFills(offer, body(n)) }},
		"a card's body": {160, "Content.Components[0][1][1]", func(n int) Message {
			return validFills(TemplateCards{{head, body(160)}, {head, body(n)}})
		}},
		"a card's body beside an offer": {160, "Content.Components[1][1][1]", func(n int) Message {
			return validFills(offer, TemplateCards{{head, body(160)}, {head, body(n)}})
		}},
	} {
		assert.Empty(t, problemsOf(tt.message(tt.most)), name)
		validRefused(t, name, validRule{
			tt.message(tt.most + 1), tt.field, fmt.Sprintf("want at most %d characters in all parameters together, got %d", tt.most, tt.most+1), validLimit,
		})
	}
	assert.Empty(t, problemsOf(validFills(QuickReplyButton{}, TemplateBody{
		TextParam{Text: strings.Repeat("é", 1024)}, Currency{FallbackValue: strings.Repeat("1", 99), Code: "USD"}, DateTime{FallbackValue: strings.Repeat("1", 99)},
	})), "only texts are counted")
	assert.Empty(t, problemsOf(validDoes(validChanged(validCarousel(2), func(k *Carousel) { k.Cards[0].Body = "a\nb\nc" }))), "two line breaks")
}

// Text that is not valid UTF-8 would reach the recipient as another text.
func TestTextMustBeUTF8(t *testing.T) {
	t.Parallel()
	fields := map[string]bool{}
	for _, g := range goldenMessages() {
		paths := validTextPaths(reflect.ValueOf(g.message), "")
		require.NotEmpty(t, paths, g.name)
		for n, path := range paths {
			broken := validNthText(g.message, n, func(s string) string { return s + "\xff" })
			found := false
			for _, problem := range problemsOf(broken) {
				found = found || problem.Field == path && !problem.Limit
			}
			assert.True(t, found, "%s: %s is not checked", g.name, path)
			fields[path] = true
		}
	}
	assert.Greater(t, len(fields), 150)
}

// validTextPaths returns the paths of the texts that are not empty, in the order in which validNthText counts them.
func validTextPaths(v reflect.Value, path string) []string {
	var all []string
	switch v.Kind() {
	case reflect.String:
		if v.Len() > 0 {
			all = append(all, path)
		}
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() && !validIsOpen(v) {
			all = validTextPaths(v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			all = append(all, validTextPaths(v.Index(i), path+"["+strconv.Itoa(i)+"]")...)
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]string]() {
			for key, value := range v.Seq2() {
				all = append(all, validTextPaths(value, path+"["+strconv.Quote(key.String())+"]")...)
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			break
		}
		for i := range v.NumField() {
			switch field := v.Type().Field(i); {
			case field.Anonymous:
				all = append(all, validTextPaths(v.Field(i), path)...)
			case field.IsExported():
				all = append(all, validTextPaths(v.Field(i), strings.TrimPrefix(path+"."+field.Name, "."))...)
			}
		}
	}
	return all
}

// validIsOpen reports whether a place takes data of any shape.
func validIsOpen(v reflect.Value) bool { return v.Type() == reflect.TypeFor[any]() }

func validNthText(m Message, n int, change func(string) string) Message {
	count := -1
	return goldenEdited(m, func(v reflect.Value) bool {
		if v.Kind() == reflect.Interface && validIsOpen(v) {
			return true
		}
		if v.Kind() == reflect.String && v.Len() > 0 {
			if count++; count == n {
				v.SetString(change(v.String()))
			}
		}
		return false
	})
}

func TestCountLimits(t *testing.T) {
	t.Parallel()
	buttons := func(n int) ReplyButtons {
		b := make(ReplyButtons, n)
		for i := range b {
			b[i] = ReplyButton{strconv.Itoa(i), "Title " + strconv.Itoa(i)}
		}
		return b
	}
	rows := func(section, n int) []Row {
		all := make([]Row, n)
		for i := range all {
			all[i] = Row{ID: fmt.Sprint(section, " ", i), Title: "Row"}
		}
		return all
	}
	sections := func(n, products int) []ProductSection {
		all := make([]ProductSection, n)
		for i := range all {
			all[i] = ProductSection{Title: "Section", Products: make([]ProductItem, products)}
			for j := range all[i].Products {
				all[i].Products[j] = ProductItem{strconv.Itoa(j)}
			}
		}
		return all
	}
	products := func(all []ProductSection) Message {
		return goldenTo(validWithHeader(HeaderText{Text: "Shop"}, ProductList{"8", all}))
	}
	button := func(all []ProductSection) Message {
		return validFills(ProductsButton{ThumbnailProductRetailerID: "1", Sections: all})
	}
	for name, tt := range map[string]struct {
		least, most int // least is 0 where none is not rejected here
		field       string
		reason      string // with the number that there are
		message     func(n int) Message
	}{
		"contacts": {1, 257, "Content", "want 1 to 257 contacts, got %d", func(n int) Message {
			k := make(Contacts, n)
			for i := range k {
				k[i].Name = ContactName{FormattedName: "a", FirstName: "a"}
			}
			return goldenTo(k)
		}},
		"reply buttons": {1, 3, "Content.Action", "want 1 to 3 buttons, got %d", func(n int) Message { return validDoes(buttons(n)) }},
		"sections of a list": {1, 10, "Content.Action.Sections", "want 1 to 10 sections, got %d", func(n int) Message {
			l := List{Button: "b", Sections: make([]Section, n)}
			for i := range l.Sections {
				l.Sections[i] = Section{Title: "Section", Rows: rows(i, 1)}
			}
			return validDoes(l)
		}},
		"rows in one section": {0, 10, "Content.Action.Sections", "want at most 10 rows in all sections together, got %d", func(n int) Message {
			return validDoes(List{Button: "b", Sections: []Section{{Rows: rows(0, max(1, n))}}})
		}},
		"rows in two sections": {0, 10, "Content.Action.Sections", "want at most 10 rows in all sections together, got %d", func(n int) Message {
			first := max(1, n/2)
			return validDoes(List{Button: "b", Sections: []Section{{Title: "a", Rows: rows(0, first)}, {Title: "b", Rows: rows(1, max(1, n-first))}}})
		}},
		"sections of products":     {1, 10, "Content.Action.Sections", "want 1 to 10 sections, got %d", func(n int) Message { return products(sections(n, 1)) }},
		"products in one section":  {0, 30, "Content.Action.Sections", "want at most 30 products in all sections together, got %d", func(n int) Message { return products(sections(1, max(1, n))) }},
		"products in two sections": {0, 30, "Content.Action.Sections", "want at most 30 products in all sections together, got %d", func(n int) Message { return products(append(sections(1, 15), sections(1, max(1, n-15))...)) }},
		"sections of a button":     {1, 10, "Content.Components[0].Sections", "want 1 to 10 sections, got %d", func(n int) Message { return button(sections(n, 1)) }},
		"products of a button":     {0, 30, "Content.Components[0].Sections", "want at most 30 products in all sections together, got %d", func(n int) Message { return button(append(sections(1, 15), sections(1, max(1, n-15))...)) }},
		"cards with a link":        {2, 10, "Content.Action.Cards", "want 2 to 10 cards, got %d", func(n int) Message { return validDoes(validCarousel(n)) }},
		"cards with a product": {2, 10, "Content.Action.Cards", "want 2 to 10 cards, got %d", func(n int) Message {
			k := Carousel{Cards: make([]Card, n)}
			for i := range k.Cards {
				k.Cards[i].Action = Product{"8", strconv.Itoa(i)}
			}
			return validDoes(k)
		}},
		"cards of a template": {0, 10, "Content.Components[0]", "cards, got %d", func(n int) Message {
			k := make(TemplateCards, max(2, n))
			for i := range k {
				k[i] = TemplateCard{TemplateHeader{validImage()}}
			}
			return validFills(k)
		}},
	} {
		for _, n := range []int{max(1, tt.least), tt.most} {
			assert.Empty(t, problemsOf(tt.message(n)), "%s: %d", name, n)
		}
		if tt.least > 0 {
			validRefused(t, name+": too few", validRule{tt.message(tt.least - 1), tt.field, fmt.Sprintf(tt.reason, tt.least-1), validFault})
		}
		if name == "sections of a list" { // there are more rows too
			problems := problemsOf(tt.message(tt.most + 1))
			require.Len(t, problems, 2, name)
			assert.Equal(t, "want 1 to 10 sections, got 11", problems[0].Reason)
			assert.True(t, problems[0].Limit && problems[1].Limit)
			continue
		}
		validRefused(t, name+": too many", validRule{tt.message(tt.most + 1), tt.field, fmt.Sprintf(tt.reason, tt.most+1), validLimit})
	}
	validRefused(t, "a template of no cards", validRule{validFills(TemplateCards{}), "Content.Components[0]", "cards, got 0", validFault})
	assert.Len(t, problemsOf(validDoes(Carousel{Cards: []Card{
		{Header: validImage(), Action: ReplyButtons{}}, {Header: validImage(), Action: ReplyButtons{}},
	}})), 2, "a card has a button")
	assert.Empty(t, problemsOf(validCards(
		Card{Header: validImage(), Action: buttons(3)}, Card{Header: validImage(), Action: buttons(3)},
	)), "the platform documents no number of buttons on a card")
}

func TestNumberLimits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		least, most int
		field       string
		message     func(n int) Message
		below       bool // whether one below is a limit or a fault of structure
	}{
		"the index of a QuickReplyButton": {0, 9, "Content.Components[0].Index", func(n int) Message { return validFills(QuickReplyButton{Index: n}) }, validFault},
		"the index of a URLButton":        {0, 9, "Content.Components[0].Index", func(n int) Message { return validFills(URLButton{Index: n, Suffix: "a"}) }, validFault},
		"the index of a CopyCodeButton":   {0, 9, "Content.Components[0].Index", func(n int) Message { return validFills(CopyCodeButton{Index: n, Code: "a"}) }, validFault},
		"the index of a CatalogButton":    {0, 9, "Content.Components[0].Index", func(n int) Message { return validFills(CatalogButton{Index: n}) }, validFault},
		"the index of a ProductsButton": {0, 9, "Content.Components[0].Index", func(n int) Message {
			return validFills(ProductsButton{Index: n, ThumbnailProductRetailerID: "1", Sections: []ProductSection{{Products: []ProductItem{{"1"}}}}})
		}, validFault},
		"the index of a FlowButton": {0, 9, "Content.Components[0].Index", func(n int) Message { return validFills(FlowButton{Index: n}) }, validFault},
	} {
		for _, n := range []int{tt.least, tt.least + 1, tt.most} {
			assert.Empty(t, problemsOf(tt.message(n)), "%s: %d", name, n)
		}
		for _, n := range []int{tt.least - 1, tt.most + 1} {
			limit := tt.below
			if n > tt.most {
				limit = validLimit
			}
			validRefused(t, name+": "+strconv.Itoa(n), validRule{tt.message(n), tt.field, "", limit})
		}
	}
}

func TestReactionTakesEveryEmoji(t *testing.T) {
	t.Parallel()
	for _, emoji := range []string{
		"", "👍", "❤️", "❤", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🏴‍☠️", "🇵🇭", "1️⃣", "#️⃣", "*️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "❤️‍🔥", "👩🏽‍💻", "©️", "™️", "ℹ️", "‼️", "⁉️", "↔️", "⌚", "Ⓜ️", "▶️", "☀️", "⭐",
		"〰️", "〽️", "㊗️", "🀄", "🅰️", "🆗", "🫶", "🫡", "🧑‍🤝‍🧑", "🥲", "🤷🏿‍♀️", "🪿",
	} {
		assert.Empty(t, problemsOf(goldenTo(Reaction{MessageID: "wamid.A", Emoji: emoji})), "%q", emoji)
	}
}
