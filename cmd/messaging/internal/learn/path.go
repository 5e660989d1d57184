package learn

import (
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// everyElement returns a path with each position in a list as a *.
func everyElement(path string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		if table.IsPosition(part) {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}

// cutList cuts a path in front of its first position in a list: the path of the list, and the path within the element.
func cutList(path string) (list, inElement string, ok bool) {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		if table.IsPosition(part) {
			return strings.Join(parts[:i], "."), strings.Join(parts[i+1:], "."), true
		}
	}
	return "", path, false
}

// listOf returns the list that all of some values are in, each in its own element or in the same one.
func listOf(found map[string]leaf) (list string, ok bool) {
	isFirst := true
	for _, at := range found {
		before, inElement, isIn := cutList(at.path)
		if !isIn || inElement == "" || !isFirst && before != list {
			return "", false
		}
		list = before
		isFirst = false
	}
	return list, !isFirst
}

// elementPaths returns the paths of values by concept: those within an element if the values are in a list.
func elementPaths(found map[string]leaf, isList bool) map[string]string {
	paths := map[string]string{}
	for concept, at := range found {
		paths[concept] = at.path
		if isList {
			_, paths[concept], _ = cutList(at.path)
		}
	}
	return paths
}
