package main

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/pagination"
	"github.com/openai/openai-go/v3/webhooks"
)

func openaiPeer() peer {
	return peer{
		name:  "openai-go",
		route: route{"/v1/vector_stores", body("send/openai.json")}, id: "vs_0123456789abcdef01234567",
		connect: func(tb testing.TB, base string, transport http.RoundTripper) call {
			tb.Helper()
			client := openaiClient(base, transport)
			return sendCall(func(ctx context.Context) (string, error) {
				made, err := client.VectorStores.New(ctx, openai.VectorStoreNewParams{Name: openai.String(text)})
				if err != nil {
					return "", err
				}
				return made.ID, nil
			})
		},
		newResult: func() any { return new(openai.VectorStore) },
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
		row:  body("row/openai.json"),
		page: func(_ int, last bool) (string, http.Header) {
			return `{"object":"list","data":[%s],"first_id":"a","last_id":"b","has_more":` + strconv.FormatBool(!last) + "}", nil
		},
		list: func(tb testing.TB, over http.RoundTripper) lister {
			tb.Helper()
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
			}
		},
		newResult: func() any { return new(pagination.CursorPage[openai.FileObject]) },
	}
}

func openaiHook() hookPeer {
	client := openai.NewClient(option.WithAPIKey(token), option.WithWebhookSecret("whsec_"+base64.StdEncoding.EncodeToString([]byte(hookKey))))
	p := standardHook("openai-go", body("hook/openai.json"))
	p.handle = func(r *http.Request) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		event, err := client.Webhooks.Unwrap(body, r.Header)
		if err != nil {
			return err
		}
		return requireEvent(event.ID != "")
	}
	p.read = readJSON(func(e *webhooks.UnwrapWebhookEventUnion) bool { return e.ID != "" })
	return p
}
