package browsertest

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

var screenshots = flag.String("screenshots", "", "the folder to write screenshots to")

// testScreenshots takes pictures of every page, for a person to look at: -run TestPage/screenshots -screenshots FOLDER.
func testScreenshots(t *testing.T, tab browser, command string) {
	t.Helper()
	folder := *screenshots
	if folder == "" {
		folder = t.TempDir()
	}
	hooks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	defer hooks.Close()
	b := startSandbox(t, command, "-webhook-chatapp2", hooks.URL+"/chatapp2?key=secret", "-webhook-sms", hooks.URL+"/sms?key=secret")
	for _, width := range []int64{390, 820, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			view(t, tab, width, heights()[width], scheme)
			b.open(t, tab, "/_sandbox/")
			screenshot(t, tab, filepath.Join(folder, fmt.Sprintf("first-%d-%s.png", width, scheme)))
		}
	}
	gallery(t, b)
	scene(t, b, hooks.URL)
	pages := map[string]string{
		"conversations": "/_sandbox/",
		"conversation":  "/_sandbox/?channel=chatapp2&to=639171234567",
		"sms":           "/_sandbox/?channel=sms&to=639195550142",
		"fallback":      "/_sandbox/?channel=chatapp1&to=639195550142",
		"gallery":       "/_sandbox/?channel=chatapp2&to=639990001111",
		"faults":        "/_sandbox/page/faults",
		"traffic":       "/_sandbox/page/traffic",
		"connect":       "/_sandbox/page/connect",
	}
	for _, width := range []int64{390, 820, 1440} {
		height := heights()[width]
		for _, scheme := range []string{"light", "dark"} {
			for name, path := range pages {
				view(t, tab, width, height, scheme)
				b.open(t, tab, path)
				if name == "conversation" {
					do(t, tab, `[...document.querySelectorAll(".entry.out .time")].at(-1).click()`)
					waitFor(t, tab, ".board.picked")
				}
				if name == "gallery" {
					top := map[string]string{"light": "0", "dark": "1400"}[scheme]
					do(t, tab, `
						document.querySelectorAll("#log details").forEach(d => d.open = true);
						document.querySelector("#log").scrollTop = `+top)
				}
				if name == "traffic" {
					do(t, tab, `[...document.querySelectorAll(".exchanges a")].find(a => a.textContent.includes("/v1/messages")).click()`)
				}
				screenshot(t, tab, filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)))
			}
		}
	}
	view(t, tab, 390, 844, "dark")
	b.open(t, tab, pages["conversation"])
	screenshot(t, tab, filepath.Join(folder, "phone-390-dark.png"))
}

// heights returns the heights of the windows by their widths.
func heights() map[int64]int64 { return map[int64]int64{390: 844, 820: 1180, 1440: 900} }

// scene sends what a shop would, and returns what to open.
func scene(t *testing.T, b *sandbox, hooks string) {
	t.Helper()
	ctx, client := t.Context(), b.client(t)
	const ana, ben, cy = "+639171234567", "+639180001111", "+639195550142"
	text := func(to, text, reference string) {
		_, err := client.SMS.Send(ctx, sms.Message{From: "ACME", To: to, Text: text, ReferenceID: reference, CallbackURL: hooks + "/delivery?key=secret&s=%s&id=%i"})
		require.NoError(t, err)
	}
	chat2 := func(to string, content chatapp2.Content) string {
		r, err := client.ChatApp2.Send(ctx, chatapp2.Message{To: to, Content: content, CallbackURL: hooks + "/delivery?s=%s"})
		require.NoError(t, err)
		return r.ID
	}
	chat1 := func(m chatapp1.Message) {
		_, err := client.ChatApp1.Send(ctx, m)
		require.NoError(t, err)
	}
	sendRefusedRequest(t, b)
	text("+639170009876", "ACME: your parcel arrives today between 2 and 4 pm.", "parcel-1")
	text(cy, "482913 is your ACME verification code. It is valid for 5 minutes.", "login-1")
	chat1(chatapp1.New("acme-channel", ben).Image("https://shop.example.com/table.png"))
	chat1(chatapp1.New("acme-channel", ben).CallToAction(chatapp1.CallToAction{Text: "Your table is ready. Track it live.", Caption: "Track delivery", URL: "https://shop.example.com/17"}))
	b.post(t, "deliveries", map[string]any{"channel": "chatapp1", "to": cy, "outcome": "unreachable"})
	chat1(chatapp1.New("acme-channel", cy).Text("Your driver is here").WithTTL(10 * time.Minute).
		WithFallback(sms.Fallback{From: "ACME", Text: "Your driver is here. Please come down."}))
	b.post(t, "clock", map[string]any{"advance": "10m"})
	b.post(t, "deliveries", map[string]any{"to": ana, "outcome": "read"})
	chat2(ana, chatapp2.Template{Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{
		chatapp2.Body("Ana", "Order 17"), chatapp2.QuickReplyButton{Index: 0, Payload: "Track it"},
	}})
	first := chat2(ana, chatapp2.Image{Media: chatapp2.MediaLink("https://shop.example.com/table.png"), Caption: "Your oak table, ready to go 🪵"})
	chat2(ana, chatapp2.Location{Latitude: 14.5995, Longitude: 120.9842, Name: "The shop", Address: "1 Main Street, Manila"})
	id := chat2(ana, chatapp2.Interactive{
		Header: chatapp2.HeaderText{Text: "Delivery"}, Body: "When shall we come, Ana?", Footer: "All times are local",
		Action: chatapp2.ReplyButtons{{ID: "am", Title: "Tomorrow, 9 am"}, {ID: "pm", Title: "Tomorrow, 3 pm"}},
	})
	b.post(t, "replies", map[string]any{"channel": "chatapp2", "from": ana, "kind": "reaction", "text": "👍", "message": first})
	b.post(t, "replies", map[string]any{"channel": "chatapp2", "from": ana, "kind": "button", "text": "Tomorrow, 3 pm", "payload": "pm", "message": id})
	chat2(ana, chatapp2.Text{Body: "Booked. See you tomorrow at 3 pm!"})
	b.post(t, "faults", map[string]any{"fault": "accept-then-drop", "n": 1})
	_, err := client.SMS.Send(ctx, sms.Message{From: "ACME", To: ben, Text: "Did this go out?", ReferenceID: "order-18"})
	require.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
	b.post(t, "faults", map[string]any{"fault": "status", "status": 429, "n": 3, "retryAfter": "2s"})
	b.post(t, "faults", map[string]any{"fault": "slow", "share": 0.2, "delay": "1s"})
}

// gallery sends contents of every look to one recipient.
func gallery(t *testing.T, b *sandbox) {
	t.Helper()
	for _, name := range []string{
		"content/contacts_complete", "content/document_complete", "action/list_complete", "card/reply_buttons_complete", "action/flow_complete",
		"component/carousel_complete", "action/product_list_complete", "content/audio_complete",
	} {
		body, err := os.ReadFile("../../../chatapp2/testdata/golden/" + name + ".json")
		require.NoError(t, err)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.Base+"/chatapp2/send",
			strings.NewReader(strings.ReplaceAll(string(body), "+639171234567", "+639990001111")))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+b.Token)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode, name)
	}
}
