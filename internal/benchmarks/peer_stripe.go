package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"
	stripehook "github.com/stripe/stripe-go/v85/webhook"
)

const (
	stripeID       = "cus_NffrFeUfNV2Hib"
	stripeResponse = `{"id":"` + stripeID + `","object":"customer","address":null,"balance":0,"created":1791038663,"currency":null,` +
		`"default_source":null,"delinquent":false,"description":"Your order 17 is ready","email":"ana@example.com",` +
		`"invoice_prefix":"0759376C","invoice_settings":{"custom_fields":null,"default_payment_method":null,"footer":null,"rendering_options":null},` +
		`"livemode":false,"metadata":{},"name":"Ana","next_invoice_sequence":1,"phone":"+639171234567","preferred_locales":[],"shipping":null,"tax_exempt":"none","test_clock":null}`
)

func stripePeer() peer {
	return peer{
		name: "stripe-go", module: "github.com/stripe/stripe-go/v85", does: "V1Customers.Create",
		route: route{path: "/v1/customers", response: stripeResponse}, id: stripeID,
		connect: func(base string, transport http.RoundTripper) (call, error) {
			client := stripeClient(base, transport)
			return func(ctx context.Context) (string, error) {
				customer, err := client.V1Customers.Create(ctx, &stripe.CustomerCreateParams{
					Name: new("Ana"), Email: new("ana@example.com"), Phone: new(recipient), Description: new(text),
				})
				if err != nil {
					return "", err
				}
				return customer.ID, nil
			}, nil
		},
		decoded: func() any { return new(stripe.Customer) },
	}
}

func stripeClient(base string, transport http.RoundTripper) *stripe.Client {
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{URL: &base, HTTPClient: httpClient(transport)})
	return stripe.NewClient(token, stripe.WithBackends(&stripe.Backends{
		API: backend, Connect: backend, Uploads: backend, MeterEvents: backend,
	}))
}

func stripeListing() listingPeer {
	return listingPeer{
		name: "stripe-go",
		row: func(n int) string {
			return fmt.Sprintf(`{"id":"cus_%014d","object":"customer","address":null,"balance":0,"created":1791038663,"currency":null,"default_source":null,"delinquent":false,`+
				`"description":"Your order %06d is ready","email":"ana@example.com","invoice_prefix":"%08d","livemode":false,"metadata":{},"name":"Ana","phone":"+639%09d",`+
				`"preferred_locales":[],"tax_exempt":"none"}`, n, n, n, n)
		},
		page: func(number, pages int, rows []byte) response {
			return response{body: fmt.Appendf(nil, `{"object":"list","data":[%s],"has_more":%s,"url":"/v1/customers"}`, rows, strconv.FormatBool(number < pages))}
		},
		list: func(over http.RoundTripper) (lister, error) {
			client := stripeClient(unreachable, over)
			return func(ctx context.Context) (int, error) {
				rows := 0
				params := &stripe.CustomerListParams{}
				params.Limit = new(int64(rowsPerPage))
				for customer, err := range client.V1Customers.List(ctx, params).All(ctx) {
					if err != nil {
						return 0, err
					}
					if customer.ID != "" {
						rows++
					}
				}
				return rows, nil
			}, nil
		},
		decoded: func() any { return new(stripe.CustomerList) },
	}
}

const stripeBody = `{"id":"evt_0123456789abcdef","object":"event","api_version":"` + stripe.APIVersion + `","created":1791038663,"data":{"object":` + stripeResponse + `},` +
	`"livemode":false,"pending_webhooks":1,"request":{"id":"req_1","idempotency_key":null},"type":"customer.created"}`

func stripeHook() hookPeer {
	return hookPeer{
		name: "stripe-go", method: http.MethodPost, url: "/hook", body: stripeBody,
		sign: func(r *http.Request, body []byte) {
			at := strconv.FormatInt(time.Now().Unix(), 10)
			r.Header.Set("Stripe-Signature", "t="+at+",v1="+hex.EncodeToString(mac(sha256.New, at, ".", string(body))))
		},
		handle: func(r *http.Request) error {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			event, err := stripehook.ConstructEvent(body, r.Header.Get("Stripe-Signature"), hookKey)
			if err != nil {
				return err
			}
			return understood(event.ID != "" && len(event.Data.Raw) > 0)
		},
		matched: func(r *http.Request) error {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			first, second, ok := strings.Cut(r.Header.Get("Stripe-Signature"), ",")
			if !ok {
				return errSignature
			}
			at, came := strings.TrimPrefix(first, "t="), strings.TrimPrefix(second, "v1=")
			if err := recent(at); err != nil {
				return err
			}
			if err := sameMAC(came, hex.DecodeString, mac(sha256.New, at, ".", string(body))); err != nil {
				return err
			}
			var event stripe.Event
			if err := json.Unmarshal(body, &event); err != nil {
				return err
			}
			return understood(event.ID != "" && len(event.Data.Raw) > 0)
		},
	}
}
