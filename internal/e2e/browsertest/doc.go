// Package browsertest tests the page of the sandbox in a real browser. It has only tests; without Chromium they are skipped.
package browsertest
