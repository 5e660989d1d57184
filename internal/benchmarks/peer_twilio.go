package main

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	twilio "github.com/twilio/twilio-go/client"
	api "github.com/twilio/twilio-go/rest/api/v2010"
)

const (
	twilioAccount  = "AC0123456789abcdef0123456789abcdef"
	twilioToken    = "0123456789abcdef0123456789abcdef"
	twilioAt       = "https://example.com/hook"
	twilioID       = "SM0123456789abcdef0123456789abcdef"
	twilioResponse = `{"account_sid":"` + twilioAccount + `","api_version":"2010-04-01","body":"Your order 17 is ready",` +
		`"date_created":"Sat, 03 Oct 2026 14:44:23 +0000","date_sent":null,"date_updated":"Sat, 03 Oct 2026 14:44:23 +0000",` +
		`"direction":"outbound-api","error_code":null,"error_message":null,"from":"ACME","messaging_service_sid":null,` +
		`"num_media":"0","num_segments":"1","price":null,"price_unit":"USD","sid":"` + twilioID + `","status":"queued",` +
		`"subresource_uris":{"media":"/2010-04-01/Accounts/` + twilioAccount + `/Messages/` + twilioID + `/Media.json"},` +
		`"to":"+639171234567","uri":"/2010-04-01/Accounts/` + twilioAccount + `/Messages/` + twilioID + `.json"}`
)

func twilioPeer() peer {
	return peer{
		name: "twilio-go", module: "github.com/twilio/twilio-go", does: "CreateMessage: an SMS",
		route: route{path: "/2010-04-01/Accounts/" + twilioAccount + "/Messages.json", response: twilioResponse}, id: twilioID,
		connect: func(base string, transport http.RoundTripper) (call, error) {
			service := twilioService(base, transport)
			return func(context.Context) (string, error) {
				params := &api.CreateMessageParams{}
				params.SetFrom(sender).SetTo(recipient).SetBody(text)
				message, err := service.CreateMessage(params)
				if err != nil || message.Sid == nil {
					return "", err
				}
				return *message.Sid, nil
			}, nil
		},
		decoded: func() any { return new(api.ApiV2010Message) },
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

// twilioOverLoopback is the client's own http.Client, but that a connection to its host, which cannot be changed, is one to
// base, and without TLS like everybody else's.
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
	const path = "/2010-04-01/Accounts/" + twilioAccount + "/Messages.json"
	return listingPeer{
		name: "twilio-go",
		row: func(n int) string {
			return fmt.Sprintf(`{"body":"Your order %06d is ready","num_segments":"1","direction":"outbound-api","from":"ACME","date_updated":"Sat, 03 Oct 2026 14:44:24 +0000",`+
				`"price":"-0.50","uri":"/x/%08d.json","account_sid":"%s","num_media":"0","to":"+639%09d","date_created":"Sat, 03 Oct 2026 14:44:23 +0000","status":"sent","sid":"SM%032d"}`,
				n, n, twilioAccount[:8], n, n)
		},
		page: func(number, pages int, rows []byte) response {
			next := "null"
			if number < pages {
				next = fmt.Sprintf(`"%s?PageSize=1000&Page=%d&PageToken=PASM%d"`, path, number, number)
			}
			return response{body: fmt.Appendf(nil, `{"first_page_uri":"%s?PageSize=1000&Page=0","end":%d,"messages":[%s],"next_page_uri":%s,"page":%d,"page_size":1000,`+
				`"previous_page_uri":null,"start":%d,"uri":"%s?PageSize=1000"}`, path, number*rowsPerPage-1, rows, next, number-1, (number-1)*rowsPerPage, path)}
		},
		list: func(over http.RoundTripper) (lister, error) {
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
			}, nil
		},
		decoded: func() any { return new(api.ListMessageResponse) },
	}
}

func inboundForm() url.Values {
	return url.Values{
		"MessageSid": {twilioID}, "AccountSid": {twilioAccount}, "From": {"+639171234567"}, "To": {"+21581"},
		"Body": {"Hello there! Is it still available?"}, "NumMedia": {"0"}, "NumSegments": {"1"}, "SmsStatus": {"received"}, "ApiVersion": {"2010-04-01"},
	}
}

func twilioGetHook() hookPeer {
	target := twilioAt + "?" + inboundForm().Encode()
	validator := twilio.NewRequestValidator(hookKey)
	read := func(r *http.Request) error {
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return err
		}
		return understood(values.Get("From") != "" && values.Get("Body") != "")
	}
	return hookPeer{
		name: "twilio-go, GET", method: http.MethodGet, url: target,
		sign: func(r *http.Request, _ []byte) {
			r.Header.Set("X-Twilio-Signature", base64.StdEncoding.EncodeToString(mac(sha1.New, target)))
		},
		handle: func(r *http.Request) error {
			if !validator.Validate(target, nil, r.Header.Get("X-Twilio-Signature")) {
				return errSignature
			}
			return read(r)
		},
		matched: func(r *http.Request) error {
			if err := sameMAC(r.Header.Get("X-Twilio-Signature"), base64.StdEncoding.DecodeString, mac(sha1.New, target)); err != nil {
				return err
			}
			return read(r)
		},
	}
}

func twilioPostHook() hookPeer {
	validator := twilio.NewRequestValidator(hookKey)
	signature := func(form url.Values) []byte {
		parts := []string{twilioAt}
		for _, name := range slices.Sorted(maps.Keys(form)) {
			parts = append(parts, name, form.Get(name))
		}
		return mac(sha1.New, parts...)
	}
	read := func(r *http.Request, verified func(form url.Values, signature string) error) error {
		if err := r.ParseForm(); err != nil {
			return err
		}
		if err := verified(r.PostForm, r.Header.Get("X-Twilio-Signature")); err != nil {
			return err
		}
		return understood(r.PostForm.Get("From") != "" && r.PostForm.Get("Body") != "")
	}
	return hookPeer{
		name: "twilio-go, POST", method: http.MethodPost, url: twilioAt, body: inboundForm().Encode(),
		sign: func(r *http.Request, _ []byte) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("X-Twilio-Signature", base64.StdEncoding.EncodeToString(signature(inboundForm())))
		},
		handle: func(r *http.Request) error {
			return read(r, func(form url.Values, came string) error {
				params := make(map[string]string, len(form))
				for name := range form {
					params[name] = form.Get(name)
				}
				if !validator.Validate(twilioAt, params, came) {
					return errSignature
				}
				return nil
			})
		},
		matched: func(r *http.Request) error {
			return read(r, func(form url.Values, came string) error {
				return sameMAC(came, base64.StdEncoding.DecodeString, signature(form))
			})
		},
	}
}
