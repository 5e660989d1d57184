// Package browsertest tests the page of the sandbox in a real browser, against the command as a user starts it. It has only tests. The script
// .ci/browser installs Chromium, or leaves them out.
//
//   - page_test.go: TestPage, which runs all tests of the page, and a program with webhooks
//   - sandbox_test.go: the command, its client and its API. browser_test.go: a tab, and actions in it
//   - start_test.go: the first minute, and a way through all pages
//   - conversation_test.go, content_test.go, traffic_test.go: the pages
//   - live_test.go: changes while pages are open, many tabs, a restart, load
//   - look_test.go: labels, contrast, the keyboard, touch, zoom and paper. audit.js finds what is wrong. screenshot_test.go: pictures
//   - node_test.go, e2e.mjs: the API from Node
package browsertest
