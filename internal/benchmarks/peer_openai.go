package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/pagination"
	"github.com/openai/openai-go/v3/webhooks"
)

const (
	openaiID       = "vs_0123456789abcdef01234567"
	openaiResponse = `{"id":"` + openaiID + `","object":"vector_store","created_at":1791038663,"name":"Your order 17 is ready","usage_bytes":0,` +
		`"file_counts":{"in_progress":0,"completed":0,"failed":0,"cancelled":0,"total":0},"status":"completed",` +
		`"expires_after":null,"expires_at":null,"last_active_at":1791038663,"metadata":{}}`
)

func openaiPeer() peer {
	return peer{
		name: "openai-go", module: "github.com/openai/openai-go/v3", does: "VectorStores.New",
		route: route{path: "/v1/vector_stores", response: openaiResponse}, id: openaiID,
		connect: func(base string, transport http.RoundTripper) (call, error) {
			client := openaiClient(base, transport)
			return func(ctx context.Context) (string, error) {
				made, err := client.VectorStores.New(ctx, openai.VectorStoreNewParams{Name: openai.String(text)})
				if err != nil {
					return "", err
				}
				return made.ID, nil
			}, nil
		},
		decoded: func() any { return new(openai.VectorStore) },
	}
}

func openaiClient(base string, transport http.RoundTripper) openai.Client {
	options := []option.RequestOption{option.WithAPIKey(token), option.WithBaseURL(base + "/v1/")}
	if client := httpClient(transport); client != nil {
		options = append(options, option.WithHTTPClient(client))
	}
	return openai.NewClient(options...)
}

func openaiListing() listingPeer {
	return listingPeer{
		name: "openai-go",
		row: func(n int) string {
			return fmt.Sprintf(`{"id":"file-%024d","object":"file","bytes":%d,"created_at":1791038663,"expires_at":1791638663,"filename":"order-%06d.txt","purpose":"assistants","status":"processed",`+
				`"status_details":"Your order %06d is ready, please come by and bring this number with you; it is kept for you until the end of next week, and after that it goes back to where it came from"}`, n, n, n, n)
		},
		page: func(number, pages int, rows []byte) response {
			return response{body: fmt.Appendf(nil, `{"object":"list","data":[%s],"first_id":"a","last_id":"b","has_more":%s}`, rows, strconv.FormatBool(number < pages))}
		},
		list: func(over http.RoundTripper) (lister, error) {
			client := openaiClient(unreachable, over)
			return func(ctx context.Context) (int, error) {
				rows := 0
				pager := client.Files.ListAutoPaging(ctx, openai.FileListParams{Limit: openai.Int(rowsPerPage)})
				for pager.Next() {
					if pager.Current().ID != "" {
						rows++
					}
				}
				return rows, pager.Err()
			}, nil
		},
		decoded: func() any { return new(pagination.CursorPage[openai.FileObject]) },
	}
}

const openaiBody = `{"id":"evt_0123456789abcdef","object":"event","created_at":1791038663,"type":"response.completed","data":{"id":"resp_0123456789abcdef0123456789abcdef"}}`

func openaiHook() hookPeer {
	client := openai.NewClient(option.WithAPIKey(token), option.WithWebhookSecret("whsec_"+base64.StdEncoding.EncodeToString([]byte(hookKey))))
	return hookPeer{
		name: "openai-go", method: http.MethodPost, url: "/hook", body: openaiBody, sign: signStandard,
		handle: func(r *http.Request) error {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			event, err := client.Webhooks.Unwrap(body, r.Header)
			if err != nil {
				return err
			}
			return understood(event.ID != "")
		},
		matched: func(r *http.Request) error {
			var event webhooks.UnwrapWebhookEventUnion
			if err := readStandard(r, &event); err != nil {
				return err
			}
			return understood(event.ID != "")
		},
	}
}
