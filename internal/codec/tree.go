package codec

import "strings"

// tree is a JSON object under construction, its members in the order in which they came.
type tree struct {
	names []string
	nodes []*tree // beside names
	raw   string  // a value that is no object of ours
}

// set puts a value at a dotted path, making the objects on the way. The contract has made sure that no path ends where
// another goes on.
func (t *tree) set(path, raw string) {
	for name := range strings.SplitSeq(path, ".") {
		t = t.grow(name)
	}
	t.raw = raw
}

// put puts a value under a name in which a dot is a dot.
func (t *tree) put(name, raw string) { t.grow(name).raw = raw }

func (t *tree) grow(name string) *tree {
	for i, known := range t.names {
		if known == name {
			return t.nodes[i]
		}
	}
	child := new(tree)
	t.names, t.nodes = append(t.names, name), append(t.nodes, child)
	return child
}

func (t *tree) append(out []byte) []byte {
	if t.raw != "" {
		return append(out, t.raw...)
	}
	out = append(out, '{')
	for i, name := range t.names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, quote(name)...), ':')
		out = t.nodes[i].append(out)
	}
	return append(out, '}')
}
