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

	"github.com/google/go-github/v92/github"
)

const (
	githubID       = "2000000017"
	githubResponse = `{"url":"https://api.github.com/repos/o/r/issues/comments/` + githubID + `","html_url":"https://github.com/o/r/issues/1#issuecomment-` + githubID + `",` +
		`"issue_url":"https://api.github.com/repos/o/r/issues/1","id":` + githubID + `,"node_id":"IC_kwDOABII586Hvk1x",` +
		`"user":{"login":"octocat","id":1,"node_id":"MDQ6VXNlcjE=","type":"User","site_admin":false},` +
		`"created_at":"2026-10-03T14:44:23Z","updated_at":"2026-10-03T14:44:23Z","author_association":"NONE","body":"Your order 17 is ready"}`
)

func githubPeer() peer {
	return peer{
		name: "go-github", module: "github.com/google/go-github/v92", does: "Issues.CreateComment",
		route: route{path: "/repos/o/r/issues/1/comments", response: githubResponse}, id: githubID,
		connect: func(base string, transport http.RoundTripper) (call, error) {
			client, err := githubClient(base, transport)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context) (string, error) {
				comment, _, err := client.Issues.CreateComment(ctx, "o", "r", 1, github.IssueCommentRequest{Body: text})
				return strconv.FormatInt(comment.GetID(), 10), err
			}, nil
		},
		decoded: func() any { return new(github.IssueComment) },
	}
}

func githubClient(base string, transport http.RoundTripper) (*github.Client, error) {
	base += "/"
	options := []github.ClientOptionsFunc{github.WithAuthToken(token), github.WithURLs(&base, nil)}
	if client := httpClient(transport); client != nil {
		options = append(options, github.WithHTTPClient(client))
	}
	return github.NewClient(options...)
}

func githubListing() listingPeer {
	return listingPeer{
		name: "go-github",
		row: func(n int) string {
			return fmt.Sprintf(`{"url":"https://api.github.com/c/%08d","id":%d,"node_id":"IC_kwDOABII%08d","user":{"login":"octocat","id":1,"node_id":"MDQ6VXNlcjE=","type":"User","site_admin":false},`+
				`"created_at":"2026-10-03T14:44:23Z","updated_at":"2026-10-03T14:44:24Z","author_association":"NONE","body":"Your order %06d is ready, please come by and bring this number with you"}`, n, n, n, n)
		},
		page: func(number, pages int, rows []byte) response {
			page := response{header: http.Header{}, body: fmt.Appendf(nil, "[%s]", rows)}
			if number < pages {
				page.header.Set("Link", fmt.Sprintf(`<%s/repos/o/r/issues/1/comments?per_page=1000&page=%d>; rel="next", <%s/repos/o/r/issues/1/comments?per_page=1000&page=%d>; rel="last"`,
					unreachable, number+1, unreachable, pages))
			}
			return page
		},
		list: func(over http.RoundTripper) (lister, error) {
			client, err := githubClient(unreachable, over)
			if err != nil {
				return nil, err
			}
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
			}, nil
		},
		decoded: func() any { return new([]*github.IssueComment) },
	}
}

const githubBody = `{"action":"created","issue":{"url":"https://api.github.com/repos/o/r/issues/1","id":1,"number":1,"title":"Order 17","state":"open","user":{"login":"octocat","id":1}},` +
	`"comment":` + githubResponse + `,"repository":{"id":1,"name":"r","full_name":"o/r","owner":{"login":"o","id":2}},"sender":{"login":"octocat","id":1}}`

func githubHook() hookPeer {
	return hookPeer{
		name: "go-github", method: http.MethodPost, url: "/hook", body: githubBody,
		sign: func(r *http.Request, body []byte) {
			r.Header.Set("Content-Type", jsonType)
			r.Header.Set("X-Github-Event", "issue_comment")
			r.Header.Set(github.SHA256SignatureHeader, "sha256="+hex.EncodeToString(mac(sha256.New, string(body))))
		},
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
			return understood(ok && comment.GetComment().GetBody() != "")
		},
		matched: func(r *http.Request) error {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			came, ok := strings.CutPrefix(r.Header.Get(github.SHA256SignatureHeader), "sha256=")
			if !ok {
				return errSignature
			}
			if err := sameMAC(came, hex.DecodeString, mac(sha256.New, string(body))); err != nil {
				return err
			}
			var event github.IssueCommentEvent
			if err := json.Unmarshal(body, &event); err != nil {
				return err
			}
			return understood(event.GetComment().GetBody() != "")
		},
	}
}
