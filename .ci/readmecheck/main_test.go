package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExcerpt has excerpts of a file of four lines.
func TestExcerpt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "source.go")
	if err := os.WriteFile(file, []byte("a\n\tab\nc\nd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, isFound := range map[string]bool{
		"a\nab\n":          true,
		"  c\n\td\n":       true,
		"a\n...\nc\n":      true,
		"a\n...\nab\n":     true,
		"a\n...\n":         true,
		"...\nc\n":         true,
		"b\n":              false,
		"a\n...\nb\n":      false,
		"a\n...\na\n":      false,
		"c\n...\na\n":      false,
		"ab\n...\nc\nb\n":  false,
		"a\nab\n...\nab\n": false,
	} {
		if err := checkExcerpt(text, file); (err == nil) != isFound {
			t.Errorf("%q: got %v, want that it is found: %t", text, err, isFound)
		}
	}
}
