package sandbox

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// A sample is a message that the page sends for somebody who looks around.
type sample struct {
	Name, Title string
	channel     messagingtest.Channel
	sms         sms.Message
	content     chatapp2.Content
}

// samples returns all samples, in the order of the page.
func samples() []sample {
	photo := func(name string) chatapp2.Image {
		return chatapp2.Image{Media: chatapp2.MediaLink("https://shop.example.com/" + name)}
	}
	see := func(path string) chatapp2.CTAURL {
		return chatapp2.CTAURL{DisplayText: "See it", URL: "https://shop.example.com/" + path}
	}
	chat := func(name, title string, content chatapp2.Content) sample {
		return sample{Name: name, Title: title, channel: messagingtest.ChannelChatApp2, content: content}
	}
	return []sample{
		{Name: "code", Title: "SMS with a code", channel: messagingtest.ChannelSMS, sms: firstMessage()},
		chat("buttons", "Buttons", chatapp2.Interactive{
			Body: "Your order is ready. When shall we come?", Footer: "Reply by 6 pm",
			Action: chatapp2.ReplyButtons{{ID: "am", Title: "Tomorrow, 9 am"}, {ID: "pm", Title: "Tomorrow, 3 pm"}},
		}),
		chat("list", "List", chatapp2.Interactive{
			Body: "Choose a time for your delivery.",
			Action: chatapp2.List{Button: "See times", Sections: []chatapp2.Section{
				{Title: "Tomorrow", Rows: []chatapp2.Row{{ID: "t-9", Title: "9 am to 11 am"}, {ID: "t-15", Title: "3 pm to 5 pm", Description: "After school"}}},
				{Title: "Saturday", Rows: []chatapp2.Row{{ID: "s-10", Title: "10 am to noon"}}},
			}},
		}),
		chat("carousel", "Carousel", chatapp2.Interactive{
			Body: "*Back in stock*, in _oak_ and ~pine~ walnut:",
			Action: chatapp2.Carousel{Cards: []chatapp2.Card{
				{Header: photo("table.png"), Body: "Oak table", Action: see("table")}, {Header: photo("chair.png"), Body: "Oak chair", Action: see("chair")},
			}},
		}),
		chat("template", "Template", chatapp2.Template{Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{
			chatapp2.Body("Ana", "Order 17"), chatapp2.QuickReplyButton{Index: 0, Payload: "Track it"},
		}}),
		chat("image", "Image", chatapp2.Image{Media: chatapp2.MediaLink("https://shop.example.com/table.png"), Caption: "Your oak table, ready to go 🪵"}),
	}
}

type sampleBody struct {
	Sample string `json:"sample"`
	To     string `json:"to,omitempty"` // a fictitious number by default
}

// postSample sends a sample to the service, over the network, as a program does.
func (s *Sandbox) postSample(r *request, body sampleBody) (any, error) {
	all := samples()
	i := slices.IndexFunc(all, func(sample sample) bool { return sample.Name == body.Sample })
	if i < 0 {
		return nil, errors.New("sample must be code, buttons, list, carousel, template or image")
	}
	to := body.To
	if to == "" {
		to = firstMessage().To
	}
	client, err := s.ownClient(r.Request)
	if err != nil {
		return nil, err
	}
	var receipt messaging.Receipt
	if all[i].channel == messagingtest.ChannelSMS {
		m := all[i].sms
		m.To = to
		receipt, err = client.SMS.Send(r.Context(), m)
	} else {
		receipt, err = client.ChatApp2.Send(r.Context(), chatapp2.Message{To: to, Content: all[i].content})
	}
	if err != nil {
		return nil, err
	}
	return map[string]string{"id": receipt.ID, "url": pageURL(s.root, "message", receipt.ID)}, nil
}

// ownClient returns a client that sends to the address at which a request came in.
func (s *Sandbox) ownClient(r *http.Request) (*messaging.Client, error) {
	const patience = 10 * time.Second
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return nil, errors.New("the sandbox does not know its own address")
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, local.Network(), local.String())
	}
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
	_, port, _ := net.SplitHostPort(local.String())
	return messaging.NewClient(
		"http://localhost:"+port, messaging.WithToken(s.programToken()), messaging.WithContract(s.config.Contract),
		messaging.WithHTTPClient(&http.Client{Transport: transport}), messaging.WithTimeout(patience),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
	)
}
