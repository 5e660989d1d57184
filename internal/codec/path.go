package codec

import (
	"iter"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A path is the names that lead from a document to a value, with dots between them, such as data.messages.0.id. The path of the document is "".

// lastName returns the last name of a path.
func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// parentOf returns the path of the object or the list that holds a path. It is "" for the document.
func parentOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '.'))] }

// join returns the path within an object, or the document itself, as a path of the document.
func join(object, path string) string {
	if object == "" {
		return path
	}
	return object + "." + path
}

// addAll adds paths to a set.
func addAll(to map[string]bool, paths []string) {
	for _, path := range paths {
		to[path] = true
	}
}

// pathsAround returns the paths of the objects and lists around a path, from the innermost one on, without the document.
func pathsAround(path string) (all []string) {
	for path = parentOf(path); path != ""; path = parentOf(path) {
		all = append(all, path)
	}
	return all
}

// objectsAround yields the paths of the objects around a path, from the innermost one to the document. It skips lists.
func objectsAround(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path != "" {
			name := lastName(path)
			path = parentOf(path)
			if !table.IsPosition(name) && !yield(path) {
				return
			}
		}
	}
}

// adjacentPaths returns where the last name of paths may be in the object that holds a path, other than the paths that the contract reads.
func adjacentPaths(to string, paths []string, isRead map[string]bool) (adjacent []string) {
	objects := slices.Collect(objectsAround(to))
	if len(objects) == 0 {
		return nil
	}
	for _, path := range paths {
		name := beyond(to, path)
		path = join(objects[0], name)
		isKnown := isRead[path] || slices.Contains(adjacent, path)
		if !strings.Contains(name, ".") && !isKnown {
			adjacent = append(adjacent, path)
		}
	}
	return adjacent
}

// beyond returns the rest of a path after the names that it shares with another one.
func beyond(other, path string) string {
	for {
		name, rest, nests := strings.Cut(path, ".")
		shared, within, _ := strings.Cut(other, ".")
		if !nests || name != shared {
			return path
		}
		path = rest
		other = within
	}
}
