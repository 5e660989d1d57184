// Command readmecheck holds the Go blocks of a Markdown file against the module
// in the current directory.
//
//   - A block with "package main" builds, passes vet and is formatted. Is the
//     next block marked text or output, the program is run and must print it;
//     a line "..." there stands for any lines.
//   - A block marked "go compile" is the inside of a function, with ctx and
//     client at hand and the packages it names imported, and must build.
//   - Any other Go block must parse, as a file, as declarations or as statements.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// block is one fenced block: where it starts, what its fence says, what it holds.
type block struct {
	line int
	info []string
	text string
}

func (b block) is(words ...string) bool { return len(b.info) > 0 && slices.Contains(words, b.info[0]) }

func (b block) compiled() bool { return slices.Contains(b.info, "compile") }

func run(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	blocks, err := fenced(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	work, err := os.MkdirTemp("", "readme")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	module, err := consumer(work)
	if err != nil {
		return err
	}

	var problems []error
	programs := map[string]block{}
	for i, b := range blocks {
		if !b.is("go") {
			continue
		}
		at := func(err error) error { return fmt.Errorf("%s:%d: %w", file, b.line, err) }
		source := b.text
		switch {
		case isProgram(b.text):
			if err := formatted(b.text); err != nil {
				problems = append(problems, at(err))
				continue
			}
		case b.compiled():
			if source, err = wrapped(b.text, module); err != nil {
				problems = append(problems, at(err))
				continue
			}
		default:
			if err := parses(b.text); err != nil {
				problems = append(problems, at(err))
			}
			continue
		}
		name := fmt.Sprintf("line%d", b.line)
		if err := os.MkdirAll(filepath.Join(work, name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, name, "main.go"), []byte(source), 0o644); err != nil {
			return err
		}
		programs[name] = block{}
		if isProgram(b.text) && i+1 < len(blocks) && blocks[i+1].is("text", "output") {
			programs[name] = blocks[i+1]
		}
	}
	if len(problems) == 0 && len(programs) > 0 {
		problems = append(problems, build(work, programs)...)
	}
	fmt.Printf("%s: %d Go blocks, %d of them built\n", file, count(blocks), len(programs))
	return errors.Join(problems...)
}

func count(blocks []block) (n int) {
	for _, b := range blocks {
		if b.is("go") {
			n++
		}
	}
	return n
}

// fenced returns the fenced blocks of a Markdown text.
func fenced(text string) ([]block, error) {
	var blocks []block
	var open *block
	for i, line := range strings.Split(text, "\n") {
		switch {
		case open == nil && strings.HasPrefix(line, "```"):
			open = &block{line: i + 1, info: strings.Fields(strings.TrimLeft(line, "`"))}
		case open != nil && strings.TrimSpace(line) == "```":
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	if open != nil {
		return nil, fmt.Errorf("the block of line %d does not end", open.line)
	}
	return blocks, nil
}

// consumer writes a module into dir that sees the checkout, and returns the
// checkout's module path.
func consumer(dir string) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	module, err := command(root, "go", "list", "-m")
	if err != nil {
		return "", err
	}
	module = strings.TrimSpace(module)
	content := fmt.Sprintf("module readme\n\ngo 1.26.0\n\nrequire %s v0.0.0\n\nreplace %s => %q\n", module, module, root)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(content), 0o644); err != nil {
		return "", err
	}
	if sums, err := os.ReadFile("go.sum"); err == nil {
		return module, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644)
	}
	return module, nil
}

// build builds and vets every program at once, and runs those with an expected output.
func build(work string, programs map[string]block) []error {
	if _, err := command(work, "env", "GOPROXY=off", "go", "mod", "tidy"); err != nil {
		if _, err := command(work, "go", "mod", "tidy"); err != nil {
			return []error{err}
		}
	}
	if _, err := command(work, "go", "vet", "./..."); err != nil {
		return []error{err}
	}
	if _, err := command(work, "go", "build", "-o", filepath.Join(work, "bin")+"/", "./..."); err != nil {
		return []error{err}
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		want := programs[name]
		if want.info == nil {
			continue
		}
		got, err := command(work, filepath.Join(work, "bin", name))
		if err != nil {
			problems = append(problems, fmt.Errorf("README, the program above line %d: %w", want.line, err))
			continue
		}
		if !matches(lines(want.text), lines(got)) {
			problems = append(problems, fmt.Errorf("README, line %d: the program prints\n%s", want.line, got))
		}
	}
	return problems
}

func command(dir, name string, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir = dir
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{filepath.Base(name)}, arguments...), " "), err, problem.String())
	}
	return out.String(), nil
}

func lines(text string) []string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " \t")
	}
	return all
}

// matches compares line by line; "..." in want stands for any lines, or none.
func matches(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if want[0] == "..." {
		for skip := range len(got) + 1 {
			if matches(want[1:], got[skip:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && want[0] == got[0] && matches(want[1:], got[1:])
}

func isProgram(text string) bool {
	return strings.HasPrefix(text, "package main\n") || strings.Contains(text, "\npackage main\n")
}

func formatted(text string) error {
	got, err := format.Source([]byte(text))
	if err != nil {
		return err
	}
	if string(got) != text {
		return errors.New("gofmt would change this program")
	}
	return nil
}

// parses says whether a fragment is Go: a file, declarations, or statements
// after an import declaration or none.
func parses(text string) error {
	files := token.NewFileSet()
	imports, rest := split(text)
	var err error
	for _, source := range []string{text, "package p;" + text, "package p;" + imports + "func _() {" + rest + "\n}"} {
		if _, err = parser.ParseFile(files, "", source, parser.SkipObjectResolution); err == nil {
			return nil
		}
	}
	return err
}

// split cuts a leading import declaration off.
func split(text string) (imports, rest string) {
	trimmed := strings.TrimLeft(text, "\n")
	end := "\n"
	switch {
	case strings.HasPrefix(trimmed, "import ("):
		end = "\n)\n"
	case !strings.HasPrefix(trimmed, "import "):
		return "", text
	}
	before, after, _ := strings.Cut(trimmed, end)
	return before + end, after
}

// wrapped makes a program of statements: it imports what they name and uses
// every variable that they declare at the top.
func wrapped(text, module string) (string, error) {
	known := map[string]string{"messaging": module}
	for _, name := range []string{"contract", "sms", "chatapp1", "chatapp2", "webhook", "messagingtest"} {
		known[name] = module + "/" + name
	}
	for _, path := range []string{"context", "errors", "fmt", "iter", "log", "log/slog", "net/http", "net/url", "os", "slices", "strings", "testing", "time"} {
		known[path[strings.LastIndex(path, "/")+1:]] = path
	}
	imports, rest := split(text)
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p;"+imports+"func _() {"+rest+"\n}", 0)
	if err != nil {
		return "", err
	}
	paths := map[string]bool{"context": true, module: true}
	for _, name := range file.Unresolved {
		if path, ok := known[name.Name]; ok && !strings.Contains(imports, `"`+path+`"`) {
			paths[path] = true
		}
	}
	used := map[string]bool{"ctx": true, "client": true}
	body := file.Decls[len(file.Decls)-1].(*ast.FuncDecl).Body.List
	for _, statement := range body {
		if assigned, ok := statement.(*ast.AssignStmt); ok && assigned.Tok == token.DEFINE {
			for _, left := range assigned.Lhs {
				used[left.(*ast.Ident).Name] = true
			}
		}
	}
	delete(used, "_")

	var out strings.Builder
	out.WriteString("package main\n\n")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if path == module {
			fmt.Fprintf(&out, "import messaging %q\n", path)
			continue
		}
		fmt.Fprintf(&out, "import %q\n", path)
	}
	fmt.Fprintf(&out, "%s\nfunc _(ctx context.Context, client *messaging.Client) {\n%s\n", imports, rest)
	for _, name := range slices.Sorted(maps.Keys(used)) {
		fmt.Fprintf(&out, "_ = %s\n", name)
	}
	out.WriteString("}\n\nfunc main() {}\n")
	return out.String(), nil
}
