package chatapp1_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

func TestDraft(t *testing.T) {
	t.Parallel()
	envelope := chatapp1.Message{ChannelID: "channel-1", To: number}
	video := chatapp1.Video{URL: "v", ThumbnailURL: "t", Duration: time.Second, Size: 1}
	button := chatapp1.CallToAction{Text: "a", ImageURL: "b", Caption: "c", URL: "d"}
	template := chatapp1.Template{ID: "t", Language: "en", Params: map[string]string{"a": "b"}}
	fields := map[string]any{"a": "b"}
	for range 2 { // a draft stays as it is
		for _, tt := range []struct {
			message chatapp1.Message
			payload chatapp1.Payload
		}{
			{to.Text("x"), chatapp1.Text{Body: "x"}},
			{to.Image("x"), chatapp1.Image{URL: "x"}},
			{to.Video(video), video},
			{to.CallToAction(button), button},
			{to.Template(template), template},
			{to.Raw(fields), chatapp1.Raw{Fields: fields}},
		} {
			want := envelope
			want.Payload = tt.payload
			assert.Equal(t, want, tt.message)
		}
	}
	assert.Equal(t, chatapp1.New("channel-1", number), to)
	assert.NotEqual(t, chatapp1.New(number, "channel-1"), to)
}

// embedding has the methods of the payload that it holds.
type embedding struct{ chatapp1.Payload }

func withExtra(m chatapp1.Message, extra map[string]any) chatapp1.Message {
	m.Extra = extra
	return m
}

// with returns each way to change a message, by field.
func with() map[string]func(chatapp1.Message) chatapp1.Message {
	return map[string]func(chatapp1.Message) chatapp1.Message{
		"TTL": func(m chatapp1.Message) chatapp1.Message { return m.WithTTL(time.Minute) },
		"Fallback": func(m chatapp1.Message) chatapp1.Message {
			return m.WithFallback(sms.Fallback{From: "NEW", Text: "new"})
		},
		"CallbackURL": func(m chatapp1.Message) chatapp1.Message { return m.WithCallback("https://new.example.com/") },
		"ReferenceID": func(m chatapp1.Message) chatapp1.Message { return m.WithReference("new") },
	}
}

func TestWithChangesACopy(t *testing.T) {
	t.Parallel()
	for field, change := range with() {
		for _, original := range []func() chatapp1.Message{
			func() chatapp1.Message { return to.Text("Hi") },
			func() chatapp1.Message { return complete(to.Text("Hi")) },
		} {
			m := original()
			changed := change(m)
			assert.Equal(t, original(), m, "With of %s changes the message that it is called on", field)
			before, after := reflect.ValueOf(m), reflect.ValueOf(changed)
			for known := range before.Type().Fields() {
				if known.Name == field {
					assert.NotEqual(t, before.FieldByIndex(known.Index).Interface(), after.FieldByIndex(known.Index).Interface(), field)
				} else {
					assert.Equal(t, before.FieldByIndex(known.Index).Interface(), after.FieldByIndex(known.Index).Interface(), "With of %s changes %s", field, known.Name)
				}
			}
			for other, again := range with() {
				both := again(changed)
				assert.Equal(t, change(original()), changed, "With of %s after that of %s changes the message that it is called on", other, field)
				assert.Equal(t, change(again(original())), both, "the order of %s and %s matters", field, other)
			}
		}
	}
	assert.Equal(t, chatapp1.Message{
		ChannelID: "channel-1", To: number, Payload: chatapp1.Text{Body: "Hi"}, TTL: time.Minute, Fallback: &sms.Fallback{From: "NEW", Text: "new"},
		CallbackURL: "https://new.example.com/", ReferenceID: "new",
	}, with()["TTL"](with()["Fallback"](with()["CallbackURL"](with()["ReferenceID"](to.Text("Hi"))))))
}

func TestWithFallbackCopies(t *testing.T) {
	t.Parallel()
	fallback := sms.Fallback{From: "ACME", Text: "one"}
	first := to.Text("Hi").WithFallback(fallback)
	fallback.Text = "two"
	second := first.WithFallback(fallback)
	second.Fallback.From = "OTHER"
	assert.Equal(t, &sms.Fallback{From: "ACME", Text: "one"}, first.Fallback)
	assert.Equal(t, &sms.Fallback{From: "OTHER", Text: "two"}, second.Fallback)
	assert.Equal(t, sms.Fallback{From: "ACME", Text: "two"}, fallback)
}

func TestBuilderMakesTheLiteral(t *testing.T) {
	t.Parallel()
	assert.Equal(t, chatapp1.Message{
		ChannelID: "channel-1", To: number, Payload: chatapp1.Text{Body: "Hi"}, TTL: 10 * time.Minute,
		Fallback: &sms.Fallback{From: "ACME", Text: "Order 17 is ready"}, CallbackURL: callback, ReferenceID: "order-17",
	}, complete(to.Text("Hi")))
}

// problem is what a test expects of a problem: its field, and a part of its reason.
type problem struct {
	field, reason string
}

const absent = "required, but absent"

func TestProblems(t *testing.T) {
	t.Parallel()
	const (
		recipient = "want 5 to 15 digits with an optional leading +, "
		web       = "want an absolute URL that begins with http:// or https:// and a host"
		unicode   = "must be valid UTF-8, and is not at byte "
		white     = "must not hold white space or control characters"
		escape    = "a % in it must begin an escape such as %20"
		kinds     = "required, but nil; want one of Text, Image, Video, CallToAction, Template and Raw"
		whole     = "must be a whole number of seconds, the unit of the contract, got "
		negative  = "must not be negative, got "
	)
	from := func(channel string) chatapp1.Message { return chatapp1.New(channel, number).Text("SECRET") }
	toNumber := func(to string) chatapp1.Message { return chatapp1.New("SECRET", to).Text("SECRET") }
	of := func(p chatapp1.Payload) chatapp1.Message {
		return chatapp1.Message{ChannelID: "SECRET", To: number, Payload: p}
	}
	hi := of(chatapp1.Text{Body: "SECRET"})
	fallback := func(from, text string) chatapp1.Message {
		return hi.WithFallback(sms.Fallback{From: from, Text: text})
	}
	video := func(change func(*chatapp1.Video)) chatapp1.Message {
		v := chatapp1.Video{URL: "https://SECRET.example.com/v", ThumbnailURL: "https://SECRET.example.com/t", Duration: time.Second, Size: 1}
		change(&v)
		return of(v)
	}
	button := func(change func(*chatapp1.CallToAction)) chatapp1.Message {
		c := chatapp1.CallToAction{Text: "SECRET", ImageURL: "https://SECRET.example.com/i", Caption: "SECRET", URL: "https://SECRET.example.com/"}
		change(&c)
		return of(c)
	}
	template := func(change func(*chatapp1.Template)) chatapp1.Message {
		v := chatapp1.Template{ID: "SECRET", Language: "SECRET", Params: map[string]string{"name": "SECRET"}}
		change(&v)
		return of(v)
	}
	rows := map[string]struct {
		message  chatapp1.Message
		problems []problem
	}{
		"no channel":              {from(""), []problem{{"ChannelID", absent}}},
		"a blank channel":         {from(" \t\n"), []problem{{"ChannelID", "must not be white space only"}}},
		"a channel not UTF-8":     {from("SECRET\xff"), []problem{{"ChannelID", unicode + "6"}}},
		"no recipient":            {toNumber(""), []problem{{"To", absent}}},
		"two recipients":          {toNumber("+639171234567,+639181234567"), []problem{{"To", recipient + "got a separator: one message goes to one recipient"}}},
		"recipients in two lines": {toNumber("639171234567\n639181234567"), []problem{{"To", recipient + "got white space"}}},
		"a recipient with spaces": {toNumber("+63 917 123 4567"), []problem{{"To", recipient + "got white space"}}},
		"a recipient with dashes": {toNumber("+63-917-1234567"), []problem{{"To", recipient + "got punctuation"}}},
		"a name as recipient":     {toNumber("SECRET"), []problem{{"To", recipient + "got a character that is not a digit"}}},
		"digits of other scripts": {toNumber("٦٣٩١٧١٢٣٤٥"), []problem{{"To", recipient + "got a character that is not a digit"}}},
		"two signs":               {toNumber("++639171234567"), []problem{{"To", recipient + "got punctuation"}}},
		"a sign alone":            {toNumber("+"), []problem{{"To", recipient + "got 0 digits"}}},
		"a short recipient":       {toNumber("1234"), []problem{{"To", recipient + "got 4 digits"}}},
		"a long recipient":        {toNumber("+1234567890123456"), []problem{{"To", recipient + "got 16 digits"}}},
		"no payload":              {of(nil), []problem{{"Payload", kinds}}},

		"a lifetime below zero":        {hi.WithTTL(-1500 * time.Millisecond), []problem{{"TTL", "must not be negative, got -1.5s"}}},
		"a fallback of nothing":        {fallback("", ""), []problem{{"Fallback.From", absent}, {"Fallback.Text", absent}}},
		"a fallback without sender":    {fallback("", "SECRET"), []problem{{"Fallback.From", absent}}},
		"a fallback without text":      {fallback("SECRET", ""), []problem{{"Fallback.Text", absent}}},
		"a fallback of blank sender":   {fallback(" \t", "SECRET"), []problem{{"Fallback.From", "must not be white space only"}}},
		"a fallback not from UTF-8":    {fallback("SECRET\xff", "SECRET"), []problem{{"Fallback.From", unicode + "6"}}},
		"a fallback text not UTF-8":    {fallback("SECRET", "€\ufffd\xe9SECRET"), []problem{{"Fallback.Text", unicode + "6"}}},
		"a relative callback":          {hi.WithCallback("/SECRET"), []problem{{"CallbackURL", web}}},
		"a callback of another scheme": {hi.WithCallback("ftp://SECRET.example.com/"), []problem{{"CallbackURL", web}}},
		"a callback without host":      {hi.WithCallback("https:///SECRET"), []problem{{"CallbackURL", web}}},
		"a callback with a break":      {hi.WithCallback("https://SECRET.example.com/\r\n"), []problem{{"CallbackURL", white}}},
		"a callback with a bad port":   {hi.WithCallback("https://SECRET.example.com:65536/"), []problem{{"CallbackURL", "the port must be a number up to 65535"}}},
		"a callback not UTF-8":         {hi.WithCallback("https://SECRET.example.com/\xff"), []problem{{"CallbackURL", "must be valid UTF-8"}}},
		"a reference not UTF-8":        {hi.WithReference("SECRET\xff"), []problem{{"ReferenceID", unicode + "6"}}},

		"no text":              {of(chatapp1.Text{}), []problem{{"Payload.Body", absent}}},
		"a text not UTF-8":     {of(chatapp1.Text{Body: "SECRET caf\xe9"}), []problem{{"Payload.Body", unicode + "10"}}},
		"no image":             {of(chatapp1.Image{}), []problem{{"Payload.URL", absent}}},
		"a relative image":     {of(chatapp1.Image{URL: "SECRET.png"}), []problem{{"Payload.URL", web}}},
		"an image in data":     {of(chatapp1.Image{URL: "data:image/png;base64,SECRET"}), []problem{{"Payload.URL", web}}},
		"an image with spaces": {of(chatapp1.Image{URL: "https://SECRET.example.com/a b.png"}), []problem{{"Payload.URL", white}}},
		"an image with a %":    {of(chatapp1.Image{URL: "https://SECRET.example.com/100%"}), []problem{{"Payload.URL", escape}}},
		"no video":             {video(func(v *chatapp1.Video) { v.URL = "" }), []problem{{"Payload.URL", absent}}},
		"a relative video":     {video(func(v *chatapp1.Video) { v.URL = "//SECRET.example.com/v" }), []problem{{"Payload.URL", web}}},
		"a video with a %":     {video(func(v *chatapp1.Video) { v.URL = "https://SECRET.example.com/%zz" }), []problem{{"Payload.URL", escape}}},
		"a relative thumbnail": {video(func(v *chatapp1.Video) { v.ThumbnailURL = "SECRET.jpg" }), []problem{{"Payload.ThumbnailURL", web}}},
		"a thumbnail with a %": {video(func(v *chatapp1.Video) { v.ThumbnailURL = "https://SECRET.example.com/%s" }), []problem{{"Payload.ThumbnailURL", escape}}},
		"a video of half a second": {
			video(func(v *chatapp1.Video) { v.Duration = 500 * time.Millisecond }), []problem{{"Payload.Duration", whole + "500ms"}},
		},
		"a video below zero":     {video(func(v *chatapp1.Video) { v.Duration = -time.Second }), []problem{{"Payload.Duration", negative + "-1s"}}},
		"a size below zero":      {video(func(v *chatapp1.Video) { v.Size = -1 }), []problem{{"Payload.Size", "want 1 or more, got -1"}}},
		"a button without text":  {button(func(c *chatapp1.CallToAction) { c.Text = "" }), []problem{{"Payload.Text", absent}}},
		"a button text not UTF8": {button(func(c *chatapp1.CallToAction) { c.Text = "\xff" }), []problem{{"Payload.Text", unicode + "0"}}},
		"a button of no image":   {button(func(c *chatapp1.CallToAction) { c.ImageURL = "SECRET" }), []problem{{"Payload.ImageURL", web}}},
		"a button without label": {button(func(c *chatapp1.CallToAction) { c.Caption = "" }), []problem{{"Payload.Caption", absent}}},
		"a label not UTF-8":      {button(func(c *chatapp1.CallToAction) { c.Caption = "SECRET\xff" }), []problem{{"Payload.Caption", unicode + "6"}}},
		"a button without URL":   {button(func(c *chatapp1.CallToAction) { c.URL = "" }), []problem{{"Payload.URL", absent}}},
		"a button with no host":  {button(func(c *chatapp1.CallToAction) { c.URL = "https://?SECRET" }), []problem{{"Payload.URL", web}}},
		"a button that dials":    {button(func(c *chatapp1.CallToAction) { c.URL = "tel:" + number }), []problem{{"Payload.URL", web}}},
		"a template without ID":  {template(func(v *chatapp1.Template) { v.ID = "" }), []problem{{"Payload.ID", absent}}},
		"a template ID not UTF8": {template(func(v *chatapp1.Template) { v.ID = "SECRET\xff" }), []problem{{"Payload.ID", unicode + "6"}}},
		"a language not UTF-8":   {template(func(v *chatapp1.Template) { v.Language = "\xff" }), []problem{{"Payload.Language", unicode + "0"}}},
		"a value not UTF-8": {
			template(func(v *chatapp1.Template) { v.Params["name"] = "SECRET\xff" }), []problem{{`Payload.Params["name"]`, unicode + "6"}},
		},
		"a value without name": {
			template(func(v *chatapp1.Template) { v.Params[""] = "SECRET" }), []problem{{`Payload.Params[""]`, "a parameter needs a name"}},
		},
		"a name not UTF-8": {
			template(func(v *chatapp1.Template) { v.Params["a\xff"] = "SECRET" }), []problem{{`Payload.Params["a\xff"]`, "the name " + unicode + "1"}},
		},
		"a name that is quoted": {
			template(func(v *chatapp1.Template) { v.Params["a\"]\n"] = "\xff" }), []problem{{`Payload.Params["a\"]\n"]`, unicode + "0"}},
		},
		"no fields": {of(chatapp1.Raw{}), []problem{{"Payload.Fields", "required, but absent"}}},
		"no fields, and Extra": {
			withExtra(of(chatapp1.Raw{}), map[string]any{"a": 1}), []problem{{"Payload.Fields", "required, but absent"}},
		},
		"a struct that embeds a payload": {
			of(embedding{chatapp1.Text{Body: "Hi"}}), []problem{{"Payload", "must be a type of this library, not chatapp1_test.embedding, which embeds one"}},
		},
		"empty fields": {of(chatapp1.Raw{Fields: map[string]any{}}), []problem{{"Payload.Fields", "required, but absent"}}},

		"all at once": {
			chatapp1.Message{Payload: chatapp1.CallToAction{}, TTL: -time.Second, Fallback: &sms.Fallback{}, CallbackURL: "SECRET", ReferenceID: "\xff"},
			[]problem{
				{"ChannelID", absent},
				{"To", absent},
				{"Payload.Text", absent},
				{"Payload.Caption", absent},
				{"Payload.URL", absent},
				{"TTL", "negative"},
				{"Fallback.From", absent},
				{"Fallback.Text", absent},
				{"CallbackURL", web},
				{"ReferenceID", unicode},
			},
		},
		"a video of nothing right": {
			of(chatapp1.Video{ThumbnailURL: "SECRET", Duration: -1, Size: -4096}),
			[]problem{{"Payload.URL", absent}, {"Payload.ThumbnailURL", web}, {"Payload.Duration", negative + "-1ns"}, {"Payload.Size", "got -4096"}},
		},
		"a template of nothing right": {
			of(chatapp1.Template{Language: "\xff", Params: map[string]string{"": "\xff", "\xff": "\xff", "z": "\xff", "b": "SECRET", "a": "\xff"}}),
			[]problem{
				{"Payload.ID", absent},
				{"Payload.Language", unicode},
				{`Payload.Params[""]`, "needs a name"},
				{`Payload.Params[""]`, unicode},
				{`Payload.Params["a"]`, unicode},
				{`Payload.Params["z"]`, unicode},
				{`Payload.Params["\xff"]`, "the name " + unicode},
				{`Payload.Params["\xff"]`, unicode},
			},
		},
	}
	for name, tt := range rows {
		_, found := encode(t, tt.message, `{}`)
		if assert.Len(t, found, len(tt.problems), "%s: %v", name, found) {
			for _, want := range tt.problems {
				assert.True(t, slices.ContainsFunc(found, func(p wire.Problem) bool {
					return p.Field == want.field && strings.Contains(p.Reason, want.reason)
				}), "%s: no %v in %v", name, want, found)
			}
		}
		for _, p := range found {
			assert.False(t, p.Limit, "%s: nothing is known of this platform's limits", name)
			for _, secret := range []string{"SECRET", "example.com", "63917", "63918", "639"} {
				assert.NotContains(t, p.Reason, secret, name)
				assert.NotContains(t, p.Field, secret, name)
			}
		}
		for range 20 {
			_, again := encode(t, tt.message, `{}`)
			require.Equal(t, found, again, "%s: the order changes", name)
		}
	}
}

func TestNoProblems(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]chatapp1.Message{
		"the shortest recipient":        chatapp1.New("1", "12345").Text("Hi"),
		"the longest recipient":         chatapp1.New("1", "+123456789012345").Text("Hi"),
		"no sign":                       chatapp1.New("1", "639171234567").Text("Hi"),
		"a channel with spaces":         chatapp1.New(" channel 1 ", number).Text("Hi"),
		"a text of spaces":              to.Text(" "),
		"a replacement character":       to.Text("\ufffd"),
		"a long text":                   to.Text(strings.Repeat("é", 100_000)),
		"a short lifetime":              to.Text("Hi").WithTTL(time.Second),
		"a long lifetime":               to.Text("Hi").WithTTL(10 * 365 * 24 * time.Hour),
		"a lifetime without fallback":   to.Text("Hi").WithTTL(time.Hour),
		"a fallback without lifetime":   to.Text("Hi").WithFallback(sms.Fallback{From: "ACME", Text: " "}),
		"a part of a second":            to.Text("Hi").WithTTL(time.Millisecond), // the contract knows the unit
		"a callback with placeholders":  to.Text("Hi").WithCallback("https://shop.example.com/%s?id=%i&kind=%tr&rate=100%"),
		"an upper-case scheme":          to.Image("HTTPS://CDN.EXAMPLE.COM/A.PNG"),
		"an address as host":            to.Image("http://[2001:db8::1]:8080/a.png"),
		"an escaped URL":                to.Image("https://cdn.example.com/a%20b.png?x=%25"),
		"a URL in another script":       to.Image("https://cdn.example.com/größe.png"),
		"a video with a thumbnail":      to.Video(chatapp1.Video{URL: "https://cdn.example.com/v", ThumbnailURL: "http://cdn.example.com/t"}),
		"a long video":                  to.Video(chatapp1.Video{URL: "https://cdn.example.com/v", Duration: 100 * time.Hour, Size: 1 << 62}),
		"a button without image":        to.CallToAction(chatapp1.CallToAction{Text: "a", Caption: "b", URL: "https://shop.example.com"}),
		"a template without parameters": to.Template(chatapp1.Template{ID: "t"}),
		"no value of a parameter":       to.Template(chatapp1.Template{ID: "t", Params: map[string]string{"a": ""}}),
		"fields of any kind":            to.Raw(map[string]any{"a": []any{1, nil, "x"}}),
	} {
		_, problems := encode(t, m, `{"chatapp1.send": {"ttl": "ms"}}`)
		assert.Empty(t, problems, name)
	}
}

func TestSendWithoutAFieldOfTheContract(t *testing.T) {
	t.Parallel()
	button := chatapp1.CallToAction{Text: "Sale", URL: "https://shop.example.com/"}
	for name, tt := range map[string]struct {
		overlay string
		message chatapp1.Message
		want    string // the body, or the field that is refused
		refused bool
	}{
		"a button without a label": {
			`{"chatapp1.send": {"fields": {"caption": ""}}}`, to.CallToAction(button),
			`{"from":"channel-1","to":"+639171234567","text":"Sale","action":"https://shop.example.com/"}`, false,
		},
		"the same in a form": {
			`{"chatapp1.send": {"encoding": "form", "fields": {"caption": ""}}}`, to.CallToAction(button),
			`from=channel-1&to=%2B639171234567&text=Sale&action=https%3A%2F%2Fshop.example.com%2F`, false,
		},
		"a fallback without a sender": {
			`{"chatapp1.send": {"fields": {"fallbackFrom": ""}}}`, to.Text("Hi").WithFallback(sms.Fallback{Text: "Hi"}),
			`{"from":"channel-1","to":"+639171234567","text":"Hi","sms_text":"Hi"}`, false,
		},
		"one with a sender":             {`{"chatapp1.send": {"fields": {"fallbackFrom": ""}}}`, to.Text("Hi").WithFallback(sms.Fallback{From: "ACME", Text: "Hi"}), "Fallback.From", true},
		"a label that cannot be sent":   {`{"chatapp1.send": {"fields": {"caption": ""}}}`, to.CallToAction(chatapp1.CallToAction{Text: "Sale", Caption: "Go", URL: "https://a.example/"}), "Payload.Caption", true},
		"an image without an address":   {`{"chatapp1.send": {"fields": {"image": ""}}}`, to.Image(""), "Payload.URL", true},
		"a text without one":            {`{"chatapp1.send": {"fields": {"text": ""}}}`, to.Text(""), "Payload.Body", true},
		"a template that has no number": {`{"chatapp1.send": {"fields": {"template": ""}}}`, to.Template(chatapp1.Template{Language: "en"}), "Payload.ID", true},
	} {
		body, problems := encode(t, tt.message, tt.overlay)
		if tt.refused {
			require.NotEmpty(t, problems, name)
			assert.Equal(t, tt.want, problems[0].Field, name)
			continue
		}
		require.Empty(t, problems, name)
		assert.Equal(t, tt.want, string(body.Body), name)
	}
}
