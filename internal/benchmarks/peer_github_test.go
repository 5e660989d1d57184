package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/google/go-github/v92/github"
	"github.com/stretchr/testify/require"
)

func githubPeer() peer {
	return peer{
		name:  "go-github",
		route: route{"/repos/o/r/issues/1/comments", body("send/github.json")}, id: "2000000017",
		connect: func(tb testing.TB, base string, transport http.RoundTripper) call {
			tb.Helper()
			client := githubClient(tb, base, transport)
			return sendCall(func(ctx context.Context) (string, error) {
				comment, _, err := client.Issues.CreateComment(ctx, "o", "r", 1, github.IssueCommentRequest{Body: text})
				return strconv.FormatInt(comment.GetID(), 10), err
			})
		},
		newResult: func() any { return new(github.IssueComment) },
	}
}

func githubClient(tb testing.TB, base string, transport http.RoundTripper) *github.Client {
	tb.Helper()
	base += "/"
	options := []github.ClientOptionsFunc{github.WithAuthToken(token), github.WithURLs(&base, nil)}
	if client := httpClient(transport); client != nil {
		options = append(options, github.WithHTTPClient(client))
	}
	client, err := github.NewClient(options...)
	require.NoError(tb, err)
	return client
}

func githubListing() listingPeer {
	return listingPeer{
		name: "go-github",
		row:  body("row/github.json"),
		page: func(number int, last bool) (string, http.Header) {
			if last {
				return "[%s]", nil
			}
			const link = `<%s/repos/o/r/issues/1/comments?per_page=1000&page=%d>; rel="next"`
			return "[%s]", http.Header{"Link": {fmt.Sprintf(link, unreachable, number+1)}}
		},
		list: func(tb testing.TB, over http.RoundTripper) lister {
			tb.Helper()
			client := githubClient(tb, unreachable, over)
			return func(ctx context.Context) (int, error) {
				rows := 0
				options := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: rowsPerPage}}
				for comment, err := range client.Issues.ListCommentsIter(ctx, "o", "r", 1, options) {
					if err != nil {
						return 0, err
					}
					if comment.GetID() != 0 {
						rows++
					}
				}
				return rows, nil
			}
		},
		newResult: func() any { return new([]*github.IssueComment) },
	}
}

func githubHook() hookPeer {
	return hookPeer{
		name: "go-github", method: http.MethodPost, url: "/hook", body: body("hook/github.json"), header: github.SHA256SignatureHeader,
		headers: func(string) http.Header {
			return http.Header{"Content-Type": {jsonType}, "X-Github-Event": {"issue_comment"}}
		},
		sign: func(_, body string) string { return "sha256=" + hex.EncodeToString(mac(sha256.New, body)) },
		handle: func(r *http.Request) error {
			body, err := github.ValidatePayload(r, []byte(hookKey))
			if err != nil {
				return err
			}
			event, err := github.ParseWebHook(github.WebHookType(r), body)
			if err != nil {
				return err
			}
			comment, ok := event.(*github.IssueCommentEvent)
			return requireEvent(ok && comment.GetComment().GetBody() != "")
		},
		read: readJSON(func(e *github.IssueCommentEvent) bool { return e.GetComment().GetBody() != "" }),
	}
}
