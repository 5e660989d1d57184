package chatapp2

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/sms"
)

// validWrongAllOver breaks rules in every part of a message.
func validWrongAllOver() Message {
	return Message{
		To: "0917 CALL ME", ReplyTo: "wamid.\xff", CallbackData: strings.Repeat("é", 513),
		Content: Interactive{
			Header: Image{Caption: "x"}, Footer: strings.Repeat("é", 61),
			Action: List{Sections: []Section{
				{Title: strings.Repeat("é", 25), Rows: []Row{{}, {ID: "1", Title: "a", Description: strings.Repeat("é", 73)}}},
				{Title: "Two", Rows: []Row{{ID: "1", Title: "a"}}},
			}},
		},
		Fallback: &sms.Fallback{}, TTL: -time.Second, CallbackURL: "shop", ReferenceID: "\xff",
		Extra: map[string]any{"to": 1, "type": 2, "interactive": 3, "messaging_product": 4, "recipient_type": 5, "fine": 6, "context": 7},
	}
}

func TestCallReportsAllProblems(t *testing.T) {
	t.Parallel()
	var got []string
	for _, problem := range problemsOf(validWrongAllOver()) {
		kind := "fault"
		if problem.Limit {
			kind = "limit"
		}
		got = append(got, kind+" "+problem.Field)
	}
	assert.Equal(t, []string{
		"fault To",
		"fault Content.Header", // no source
		"limit Content.Footer",
		"fault Content.Action.Button",
		"limit Content.Action.Sections[0].Title",
		"fault Content.Action.Sections[0].Rows[0].ID",
		"fault Content.Action.Sections[0].Rows[0].Title",
		"limit Content.Action.Sections[0].Rows[1].Description",
		"fault Content.Header.Caption",
		"fault Content.Body",
		"fault Content.Header", // not with a List
		"fault ReplyTo",
		"limit CallbackData",
		`fault Extra["context"]`, `fault Extra["interactive"]`, `fault Extra["messaging_product"]`, `fault Extra["recipient_type"]`,
		`fault Extra["to"]`, `fault Extra["type"]`,
		"fault TTL",
		"fault Fallback.From",
		"fault Fallback.Text",
		"fault CallbackURL",
		"fault ReferenceID",
	}, got)
}

func TestCallReportsProblemsInAFixedOrder(t *testing.T) {
	t.Parallel()
	extra := validWith(func(m *Message) {
		m.Extra = map[string]any{}
		for _, name := range []string{"to", "type", "text", "image", "video", "recipient", "template", "contacts"} {
			m.Extra[name] = 1
		}
	})
	for _, m := range []Message{validWrongAllOver(), extra} {
		first := problemsOf(m)
		require.Greater(t, len(first), 7)
		for range 50 {
			require.Equal(t, first, problemsOf(m))
		}
	}
}

func TestCallReportsProblemsOfAllElements(t *testing.T) {
	t.Parallel()
	var got []string
	for _, m := range []Message{
		validFills(TemplateHeader{}, TemplateBody{TextParam{}, nil, validImage()}, CopyCodeButton{Index: 10}, nil, URLButton{Index: -1}),
		validDoes(Carousel{Cards: []Card{{}, {Action: CTAURL{}}, {Header: HeaderText{}, Action: Product{}}}}),
		goldenTo(Contacts{{Birthday: "x"}, {}}),
	} {
		for _, problem := range problemsOf(m) {
			got = append(got, strings.TrimPrefix(problem.Field, "Content"))
		}
	}
	assert.Equal(t, []string{
		".Components[0].Parameter", ".Components[1][0].Text", ".Components[1][1]", ".Components[1][2]",
		".Components[2].Index", ".Components[2].Code", ".Components[3]", ".Components[4].Index", ".Components[4].Suffix",

		".Action.Cards[0].Action", ".Action.Cards[0].Header",
		".Action.Cards[1].Action.DisplayText", ".Action.Cards[1].Action.URL", ".Action.Cards[1].Header",
		".Action.Cards[2].Header.Text", ".Action.Cards[2].Action.CatalogID", ".Action.Cards[2].Action.ProductRetailerID", ".Action.Cards[2].Header",

		"[0].Name.FormattedName", "[0].Name", "[0].Birthday", "[1].Name.FormattedName", "[1].Name",
	}, got)
}

// An error may be logged, so that it must not hold what is in a message.
func TestProblemsNeverRepeatAValue(t *testing.T) {
	t.Parallel()
	const secret, number = "SECRET", "639171234567"
	forms := map[string]string{
		"a text":            secret + " " + number,
		"a long text":       strings.Repeat(secret+number, 400),
		"an ID":             secret + number,
		"a number":          number,
		"a number with +":   "+" + number + " ",
		"not UTF-8":         secret + "\xff" + number,
		"white space":       "\t" + secret + number + " ",
		"a URL":             "https://" + secret + "." + number + ".example:99999/" + secret,
		"a URL with spaces": "https://a.example/ " + secret + number,
		"a broken escape":   "https://a.example/%zz" + secret + number,
		"another scheme":    "ftp://" + secret + "/" + number,
		"JSON":              `{"` + secret + `":` + number + `}`,
		"line breaks":       "\n\n\n\n" + secret + number,
		"small letters":     strings.ToLower(secret) + number,
	}
	reasons := map[string]bool{}
	check := func(name string, m Message) {
		for _, problem := range problemsOf(m) {
			for _, shown := range []string{problem.Field, problem.Reason} {
				assert.NotContains(t, strings.ToUpper(shown), secret, name)
				assert.NotContains(t, shown, number, name)
			}
			reasons[problem.Reason] = true
		}
	}
	for form, text := range forms {
		for _, g := range goldenMessages() {
			check(g.name+" of "+form, goldenEdited(g.message, func(v reflect.Value) bool {
				switch {
				case v.Kind() == reflect.String:
					v.SetString(text)
				case v.Type() == reflect.TypeFor[json.RawMessage]() && v.Len() > 0:
					v.SetBytes([]byte(`"` + text))
					return true
				}
				return false
			}))
			for n, path := range validTextPaths(reflect.ValueOf(g.message), "") {
				check(path+" of "+form, validNthText(g.message, n, func(string) string { return text }))
			}
		}
	}
	assert.Greater(t, len(reasons), 60)
}
