package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stripe/stripe-go/v85"
	stripehook "github.com/stripe/stripe-go/v85/webhook"
)

func stripePeer() peer {
	return peer{
		name:  "stripe-go",
		route: route{"/v1/customers", body("send/stripe.json")}, id: "cus_NffrFeUfNV2Hib",
		connect: func(tb testing.TB, base string, transport http.RoundTripper) call {
			tb.Helper()
			client := stripeClient(base, transport)
			return sendCall(func(ctx context.Context) (string, error) {
				customer, err := client.V1Customers.Create(ctx, &stripe.CustomerCreateParams{
					Name: new("Ana"), Email: new("ana@example.com"), Phone: new(recipient), Description: new(text),
				})
				if err != nil {
					return "", err
				}
				return customer.ID, nil
			})
		},
		newResult: func() any { return new(stripe.Customer) },
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
		row:  body("row/stripe.json"),
		page: func(_ int, last bool) (string, http.Header) {
			return `{"object":"list","data":[%s],"has_more":` + strconv.FormatBool(!last) + `,"url":"/v1/customers"}`, nil
		},
		list: func(tb testing.TB, over http.RoundTripper) lister {
			tb.Helper()
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
			}
		},
		newResult: func() any { return new(stripe.CustomerList) },
	}
}

func stripeHook() hookPeer {
	read := func(event *stripe.Event) bool { return event.ID != "" && len(event.Data.Raw) > 0 }
	return hookPeer{
		name: "stripe-go", method: http.MethodPost, url: "/hook", header: "Stripe-Signature",
		body: strings.ReplaceAll(body("hook/stripe.json"), "API_VERSION", stripe.APIVersion),
		sign: func(at, body string) string {
			return "t=" + at + ",v1=" + hex.EncodeToString(mac(sha256.New, at, ".", body))
		},
		timestamp: func(h http.Header) string {
			at, _, _ := strings.Cut(strings.TrimPrefix(h.Get("Stripe-Signature"), "t="), ",")
			return at
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
			return requireEvent(read(&event))
		},
		read: readJSON(read),
	}
}
