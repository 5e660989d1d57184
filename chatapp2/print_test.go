package chatapp2

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/sms"
)

// printValues gives a value of every exported type that holds a part of a message.
func printValues() []any {
	return []any{
		Message{},
		Receipt{},
		Outcome{},
		Marketing{},
		Text{},
		Media{},
		Image{},
		Video{},
		Audio{},
		Document{},
		Sticker{},
		Location{},
		Reaction{},
		Pin{},
		Raw{},
		Contacts{},
		Contact{},
		ContactName{},
		ContactAddress{},
		ContactEmail{},
		ContactOrg{},
		ContactPhone{},
		ContactURL{},
		Interactive{},
		HeaderText{},
		RawAction{},
		ReplyButtons{},
		ReplyButton{},
		List{},
		Section{},
		Row{},
		CTAURL{},
		Flow{},
		Product{},
		ProductList{},
		ProductSection{},
		ProductItem{},
		CatalogMessage{},
		LocationRequest{},
		ContactRequest{},
		CallPermissionRequest{},
		VoiceCall{},
		AddressMessage{},
		SavedAddress{},
		Address{},
		Carousel{},
		Card{},
		OrderDetails{},
		Order{},
		OrderItem{},
		OrderAmount{},
		OrderExpiration{},
		OrderStatus{},
		OrderPayment{},
		Template{},
		TemplateHeader{},
		TemplateBody{},
		TemplateCards{},
		TemplateCard{},
		LimitedTimeOffer{},
		TapTarget{},
		TemplateOrderStatus{},
		RawComponent{},
		QuickReplyButton{},
		URLButton{},
		CopyCodeButton{},
		CatalogButton{},
		ProductsButton{},
		FlowButton{},
		VoiceCallButton{},
		OrderDetailsButton{},
		TextParam{},
		Currency{},
		DateTime{},
		GIF{},
		RawParameter{},
	}
}

const (
	printSecret = "SECRET"
	printNumber = 639171234567
)

// printFill puts a secret or a number into everything that v holds.
func printFill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s+%d", printSecret, printNumber))
	case reflect.Int, reflect.Int64:
		if v.Type() != reflect.TypeFor[time.Duration]() {
			v.SetInt(printNumber)
		}
	case reflect.Float64:
		v.SetFloat(printNumber)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		printFill(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(fmt.Appendf(nil, `"%s+%d"`, printSecret, printNumber))
			break
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		printFill(v.Index(0))
		printFill(v.Index(1))
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		printFill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(printSecret), value)
	case reflect.Interface:
		for _, kind := range []any{Text{}, HeaderText{}, ReplyButtons{}, CTAURL{}, URLButton{}, TextParam{}} {
			if reflect.TypeOf(kind).Implements(v.Type()) && v.Type() != reflect.TypeFor[any]() {
				held := reflect.New(reflect.TypeOf(kind)).Elem()
				printFill(held)
				v.Set(held)
				return
			}
		}
		if v.Type() == reflect.TypeFor[any]() {
			v.Set(reflect.ValueOf([]string{printSecret}))
		}
	case reflect.Struct:
		switch v.Type() {
		case reflect.TypeFor[time.Time]():
			v.Set(reflect.ValueOf(time.UnixMilli(printNumber)))
			return
		case reflect.TypeFor[Receipt](): // the rest is the service's own, and shown
			printFill(v.FieldByName("Raw"))
			return
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && (v.Type() != reflect.TypeFor[Outcome]() || field.Name != "Index") {
				printFill(v.Field(i))
			}
		}
	}
}

// printFormats gives every verb and flag by which package fmt asks a value how it wants to be shown. It asks none for %T and
// %p, and for %w only an error.
func printFormats() []string {
	var all []string
	for _, verb := range "abcdefghijklmnoqrstuvxyzABCDEFGHIJKLMNOPQRSUVWXYZ" {
		for _, flags := range []string{"", "+", "#", " ", "-", "0", "+#", "20", ".3", "-12.1"} {
			all = append(all, "%"+flags+string(verb))
		}
	}
	return all
}

func TestWhatIsPrintedOrLoggedShowsNothingOfAMessage(t *testing.T) {
	t.Parallel()
	formats := printFormats()
	type field struct{ Value any }
	for _, empty := range printValues() {
		filled := reflect.New(reflect.TypeOf(empty))
		printFill(filled.Elem())
		value, pointer, name := filled.Elem().Interface(), filled.Interface(), reflect.TypeOf(empty).Name()
		slice := reflect.MakeSlice(reflect.SliceOf(filled.Elem().Type()), 0, 1)
		slice = reflect.Append(slice, filled.Elem())
		typedField := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "Value", Type: filled.Elem().Type()}})).Elem()
		typedField.Field(0).Set(filled.Elem())
		for what, v := range map[string]any{
			"a value": value, "a pointer": pointer, "a slice": slice.Interface(), "a slice of any": []any{value, pointer},
			"a field": typedField.Interface(), "a field of any": field{value}, "a pointer to a field": &field{value},
			"a map": map[string]any{"k": value}, "an array": [1]any{value},
		} {
			var out bytes.Buffer
			for _, format := range formats {
				fmt.Fprintf(&out, format, v)
			}
			fmt.Fprint(&out, v, v)
			fmt.Fprintln(&out, v)
			out.WriteString(fmt.Errorf("cannot: %v", v).Error())
			out.WriteString(errors.New(fmt.Sprint(v)).Error())
			log := slog.New(slog.NewTextHandler(&out, nil))
			log.Info("sent", "value", v)
			log.With("value", v).WithGroup("g").Info("sent", slog.Group("h", slog.Any("value", v)))
			require.NotEmpty(t, out.String())
			printSilent(t, out.String(), name+" as "+what)
		}
		var out bytes.Buffer
		log := slog.New(slog.NewJSONHandler(&out, nil))
		log.Info("sent", "value", value, "pointer", pointer)
		printSilent(t, out.String(), name+" as JSON")
		switch empty.(type) {
		case Message, Receipt, Outcome:
			assert.Contains(t, fmt.Sprint(value), "chatapp2."+name+"{")
		default:
			want := "chatapp2." + name + "{...}"
			assert.Equal(t, want, fmt.Sprint(value))
			assert.Equal(t, want, fmt.Sprintf("%+v", pointer))
			assert.Equal(t, want, value.(slog.LogValuer).LogValue().String())
		}
	}
}

// printSilent checks that nothing of what printFill fills in is there, also where it is shown as bytes.
func printSilent(t *testing.T, shown, name string) {
	t.Helper()
	for _, secret := range []string{
		printSecret, fmt.Sprint(printNumber), fmt.Sprintf("%x", printSecret), fmt.Sprintf("%X", printSecret), fmt.Sprintf("% x", printSecret),
		"83 69 67 82 69 84", fmt.Sprintf("%x", printNumber), "6.39171", "1990-04",
	} {
		if at := strings.Index(shown, secret); at >= 0 {
			assert.Fail(t, "it shows what it holds", "%s: %q", name, shown[max(0, at-100):min(len(shown), at+100)])
			return
		}
	}
}

func TestNothingThatIsNilPanicsWhenItIsPrinted(t *testing.T) {
	t.Parallel()
	for _, empty := range printValues() {
		assert.NotPanics(t, func() {
			_ = fmt.Sprintf("%v %+v", empty, reflect.Zero(reflect.PointerTo(reflect.TypeOf(empty))).Interface())
			slog.New(slog.DiscardHandler).Info("sent", "value", empty)
		})
	}
}

func TestEveryExportedTypeHidesWhatItHolds(t *testing.T) {
	t.Parallel()
	var known []string
	for _, value := range printValues() {
		known = append(known, reflect.TypeOf(value).Name())
		_, formats := value.(fmt.Formatter)
		_, logs := value.(slog.LogValuer)
		assert.True(t, formats && logs, "%T has no Format and LogValue of its value", value)
	}
	kinds := goldenKinds(t)
	var want []string
	for name := range goldenExported(t) {
		if name != "Service" && !slices.Contains(slices.Collect(maps.Keys(kinds)), name) {
			want = append(want, name)
		}
	}
	assert.ElementsMatch(t, want, known, "every exported type has a Format and a LogValue, and stands in printValues")
}

func TestAPrintedOutcomeOrReceiptShowsWhatIdentifiesNobody(t *testing.T) {
	t.Parallel()
	receipt := Receipt{
		ID: "wamid.1", RequestID: "q-1", ReferenceID: "r-1", Parts: 2, UnitCost: "0.25", Cost: "0.50", Balance: "9.00", Operator: "OP", StatusCode: 200,
		Raw: []byte(`{"contacts":[{"input":"+639171234567"}]}`),
	}
	assert.Equal(t, `chatapp2.Receipt{ID: "wamid.1", RequestID: "q-1", ReferenceID: "r-1", Parts: 2, UnitCost: "0.25", Cost: "0.50", Balance: "9.00", `+
		`Operator: "OP", StatusCode: 200, Raw: 40 bytes}`, fmt.Sprint(receipt))
	out := Outcome{
		Index: 3, Message: Message{To: "+639171234567", Content: Text{Body: "Hi"}, Fallback: &sms.Fallback{From: "ACME", Text: "Hi"}},
		Receipt: Receipt{ID: "wamid.1"}, Err: errors.New("no answer"),
	}
	shown := fmt.Sprint(out)
	assert.True(t, strings.HasPrefix(shown, "chatapp2.Outcome{Index: 3, Message: chatapp2.Message{To: 13 characters, Content: chatapp2.Text, "+
		"Fallback: sms.Fallback{From: 4 characters, Text: 2 characters}}, Receipt: chatapp2.Receipt{ID: \"wamid.1\", "), shown)
	assert.True(t, strings.HasSuffix(shown, ", Err: no answer}"), shown)
}
