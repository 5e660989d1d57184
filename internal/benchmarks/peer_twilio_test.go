package main

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	twilio "github.com/twilio/twilio-go/client"
	api "github.com/twilio/twilio-go/rest/api/v2010"
)

const (
	twilioAccount = "AC0123456789abcdef0123456789abcdef"
	twilioToken   = "0123456789abcdef0123456789abcdef"
	twilioPath    = "/2010-04-01/Accounts/" + twilioAccount + "/Messages.json"
)

func twilioPeer() peer {
	return peer{
		name:  "twilio-go",
		route: route{twilioPath, body("send/twilio.json")}, id: "SM0123456789abcdef0123456789abcdef",
		connect: func(tb testing.TB, base string, transport http.RoundTripper) call {
			tb.Helper()
			service := twilioService(base, transport)
			return sendCall(func(context.Context) (string, error) {
				params := &api.CreateMessageParams{}
				params.SetFrom("ACME").SetTo(recipient).SetBody(text)
				message, err := service.CreateMessage(params)
				if err != nil || message.Sid == nil {
					return "", err
				}
				return *message.Sid, nil
			})
		},
		newResult: func() any { return new(api.ApiV2010Message) },
	}
}

func twilioService(base string, transport http.RoundTripper) *api.ApiService {
	client := &twilio.Client{Credentials: twilio.NewCredentials(twilioAccount, twilioToken), HTTPClient: httpClient(transport)}
	client.SetAccountSid(twilioAccount)
	if transport == nil {
		client.HTTPClient = twilioOverLoopback(base)
	}
	return api.NewApiService(twilio.NewRequestHandler(client))
}

// twilioOverLoopback returns an http.Client like the library's own, but it connects to base, without TLS like the other clients. The library
// has a fixed host.
func twilioOverLoopback(base string) *http.Client {
	shared, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil
	}
	transport := shared.Clone()
	address := strings.TrimPrefix(base, "http://")
	transport.DialTLSContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, network, address)
	}
	return &http.Client{
		Transport: transport, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func twilioListing() listingPeer {
	return listingPeer{
		name: "twilio-go",
		row:  body("row/twilio.json"),
		page: func(number int, last bool) (string, http.Header) {
			next := "null"
			if !last {
				next = fmt.Sprintf(`"%s?PageSize=1000&Page=%d&PageToken=PASM%d"`, twilioPath, number, number)
			}
			return `{"first_page_uri":"` + twilioPath + `?PageSize=1000&Page=0","end":999,"messages":[%s],"next_page_uri":` + next +
				`,"page":0,"page_size":1000,"previous_page_uri":null,"start":0,"uri":"` + twilioPath + `?PageSize=1000"}`, nil
		},
		list: func(tb testing.TB, over http.RoundTripper) lister {
			tb.Helper()
			service := twilioService(unreachable, over)
			return func(context.Context) (int, error) {
				params := &api.ListMessageParams{}
				params.SetPageSize(rowsPerPage)
				found, failed := service.StreamMessage(params)
				rows := 0
				for message := range found {
					if message.Sid != nil {
						rows++
					}
				}
				return rows, <-failed
			}
		},
		newResult: func() any { return new(api.ListMessageResponse) },
	}
}

func twilioHook() hookPeer {
	target := "https://example.com/hook?" + url.Values{
		"MessageSid": {"SM0123456789abcdef0123456789abcdef"}, "AccountSid": {twilioAccount}, "From": {recipient}, "To": {"+21581"},
		"Body": {"Hello there! Is it still available?"}, "NumMedia": {"0"}, "NumSegments": {"1"}, "SmsStatus": {"received"},
		"ApiVersion": {"2010-04-01"},
	}.Encode()
	validator := twilio.NewRequestValidator(hookKey)
	read := func(r *http.Request, _ []byte) error {
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return err
		}
		return requireEvent(values.Get("From") != "" && values.Get("Body") != "")
	}
	return hookPeer{
		name: "twilio-go", method: http.MethodGet, url: target, header: "X-Twilio-Signature",
		sign: func(string, string) string { return base64.StdEncoding.EncodeToString(mac(sha1.New, target)) },
		handle: func(r *http.Request) error {
			if !validator.Validate(target, nil, r.Header.Get("X-Twilio-Signature")) {
				return errSignature
			}
			return read(r, nil)
		},
		read: read,
	}
}
