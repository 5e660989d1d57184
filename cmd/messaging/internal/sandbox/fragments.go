package sandbox

import (
	"bytes"
	"crypto/rand"
	"hash/fnv"
	"html/template"
	"slices"
	"sync"
)

// versionHeader says what a page has: it gets only what differs from that.
const versionHeader = "X-Sandbox-Version"

// maxVersions is for how many pages the sandbox remembers what they have.
const maxVersions = 64

// fragmentCache remembers, by version, which fragments a page has. Its zero value is empty.
type fragmentCache struct {
	mu       sync.Mutex
	versions map[string]map[string]uint64 // hashes by ID
	order    []string                     // the oldest first
}

// begin returns the version of a new page, and the fragments of one that has another version.
func (c *fragmentCache) begin(has string, pages *template.Template) (version string, f *fragments) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return rand.Text()[:12], &fragments{pages: pages, known: c.versions[has], now: map[string]uint64{}}
}

// end remembers what a page has now.
func (c *fragmentCache) end(version string, f *fragments) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.versions == nil {
		c.versions = map[string]map[string]uint64{}
	}
	c.versions[version], c.order = f.now, append(c.order, version)
	if len(c.order) > maxVersions {
		delete(c.versions, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
}

// fragments are the parts of a page that are sent only if they changed.
type fragments struct {
	pages *template.Template
	known map[string]uint64 // what the page has; nil for a new page
	now   map[string]uint64
}

// Item returns an element with this ID by a template, or a stand-in without content if the page has the same already.
func (f *fragments) Item(name, tag, id string, data any) (template.HTML, error) {
	var text bytes.Buffer
	if err := f.pages.ExecuteTemplate(&text, name, data); err != nil {
		return "", err
	}
	hash := fnv.New64a()
	_, _ = hash.Write(text.Bytes()) // never fails
	f.now[id] = hash.Sum64()
	if f.known[id] == f.now[id] {
		return template.HTML("<" + tag + ` id="` + template.HTMLEscapeString(id) + `" data-same></` + tag + ">"), nil //nolint:gosec // escaped
	}
	return template.HTML(text.String()), nil //nolint:gosec // by a template
}
