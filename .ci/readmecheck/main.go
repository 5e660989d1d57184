// Command readmecheck checks the Go blocks of a Markdown file against the module in the current directory. Each must build, pass
// vet and be formatted:
//
//   - A block with "package main" is a program. If the next block is marked text or output, the program is run and must print
//     it. A line "..." stands for any lines.
//   - A block that names a file ("go path/file.go") is an excerpt. Its lines must be in that file, whose own module builds it.
//     A line "..." stands for any lines.
//   - Any other block is a fragment: declarations, or the inside of a function that returns an error. The packages that it names
//     are imported, a variable that it declares for the reader counts as used, and preamble/preamble.go declares the rest.
//
// Fragments that send, and those with handlers, are run by preamble/guides_test.go under lost responses.
package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
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
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	//go:embed preamble/preamble.go
	preamble []byte
	//go:embed preamble/guides_test.go
	guides []byte
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A block is a fenced block: its line, the words of its fence, and its text.
type block struct {
	line int
	info []string
	text string
}

func (b block) is(words ...string) bool { return len(b.info) > 0 && slices.Contains(words, b.info[0]) }

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

	sources := map[string][]byte{"preamble.go": preamble}
	outputs := map[string]block{}
	var problems []error
	var runs []string
	count := 0
	for i, b := range blocks {
		if !b.is("go") {
			continue
		}
		count++
		if len(b.info) > 1 {
			if err := excerpt(b.text, b.info[1]); err != nil {
				problems = append(problems, fmt.Errorf("%s:%d: %w", file, b.line, err))
			}
			continue
		}
		name := fmt.Sprintf("line%d", b.line)
		if isProgram(b.text) {
			sources[name+"/main.go"] = []byte(position(file, b) + b.text)
			if i+1 < len(blocks) && blocks[i+1].is("text", "output") {
				outputs[name] = blocks[i+1]
			}
		} else {
			source, err := compilable(file, b, module)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			sources[name+".go"] = []byte(source)
			if run := running(file, b); run != "" && strings.Contains(source, "func "+name+"()") {
				runs = append(runs, run)
			}
		}
		if err := formatted(b.text); err != nil {
			problems = append(problems, fmt.Errorf("%s:%d: %w", file, b.line, err))
		}
	}
	if len(runs) > 0 {
		sources["guides_test.go"] = guides
		sources["fragments_test.go"] = []byte(clause + "var fragments = []fragment{\n" + strings.Join(runs, "") + "}\n")
	}
	for name, source := range sources {
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, source, 0o644); err != nil {
			return err
		}
	}
	if len(problems) == 0 {
		problems = build(work, outputs, len(runs) > 0)
	}
	if len(problems) == 0 {
		fmt.Printf("%s: %d Go blocks built, %d of them run, %d under lost responses\n", file, count, len(outputs)+len(runs), len(runs))
	}
	return errors.Join(problems...)
}

// excerpt checks that a file has the lines of a block, in order and with any indentation.
func excerpt(text, file string) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := func(text string) string {
		var trimmed []string
		for line := range strings.Lines(text) {
			trimmed = append(trimmed, strings.TrimSpace(line))
		}
		return "\n" + strings.Join(trimmed, "\n") + "\n"
	}
	whole := lines(string(source))
	for part := range strings.SplitSeq(lines(text), "\n...\n") {
		_, rest, found := strings.Cut(whole, strings.TrimRight(part, "\n")+"\n")
		if !found {
			return fmt.Errorf("these lines are not in %s", file)
		}
		whole = "\n" + rest
	}
	return nil
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

// consumer writes a module into dir that sees the checkout, and returns the path of the checkout's module.
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

// build builds and vets everything, runs the test of the fragments if there is one, and the programs with an expected output.
func build(work string, outputs map[string]block, hasTest bool) []error {
	if _, err := command(work, "env", "GOPROXY=off", "go", "mod", "tidy"); err != nil {
		if _, err := command(work, "go", "mod", "tidy"); err != nil {
			return []error{err}
		}
	}
	steps := [][]string{
		{"build", "./..."}, // reports more than one problem, unlike vet, and builds fragments, unlike -o
		{"vet", "./..."},
	}
	if hasTest {
		steps = append(steps, []string{"test", "."})
	}
	if len(outputs) > 0 {
		steps = append(steps, []string{"build", "-o", filepath.Join(work, "bin") + "/", "./..."})
	}
	for _, arguments := range steps {
		if _, err := command(work, "go", arguments...); err != nil {
			return []error{err}
		}
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		want := outputs[name]
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
		said := strings.ReplaceAll(problem.String()+out.String(), dir+"/", "")
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{filepath.Base(name)}, arguments...), " "), err, said)
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

// matches compares line by line. "..." in want stands for any lines, or none.
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
		return errors.New("gofmt would change this block")
	}
	return nil
}

// position makes the compiler report lines of the file, not of a copy.
func position(file string, b block) string { return fmt.Sprintf("//line %s:%d\n", file, b.line+1) }

// compilable returns a fragment as a file of package readme.
func compilable(file string, b block, module string) (string, error) {
	text := b.text
	parsed, err := parse(position(file, b) + text)
	if err != nil { // Statements, not declarations. They may end with a return or not: "if true" allows both.
		before, after := fmt.Sprintf("func line%d() error { if true {\n%s", b.line, position(file, b)), "\n}\nreturn nil }\n"
		if parsed, err = parse(before + text + after); err != nil {
			return "", err
		}
		function := parsed.Decls[0].(*ast.FuncDecl)
		statements := function.Body.List[0].(*ast.IfStmt).Body.List
		offset := int(parsed.FileStart) + len(clause+before)
		for _, statement := range slices.Backward(statements) {
			end := int(statement.End()) - offset
			text = text[:end] + uses(statement) + text[end:]
		}
		text = before + text + after
	} else {
		text = position(file, b) + text
	}

	hooks := module + "/webhook/"
	known := map[string]string{"messaging": module, "sqlstore": hooks + "sqlstore", "conversations": module + "/conversations"}
	packages, err := filepath.Glob("*/*.go") // not those of other modules, which README.md names without importing them
	if err != nil {
		return "", err
	}
	for _, file := range packages {
		name := filepath.Dir(file)
		if _, err := os.Stat(filepath.Join(name, "go.mod")); err != nil {
			known[name] = module + "/" + name
		}
	}
	for _, path := range []string{"context", "encoding/json", "errors", "fmt", "iter", "log", "log/slog", "net/http", "os", "slices", "strings", "testing", "time"} {
		known[path[strings.LastIndex(path, "/")+1:]] = path
	}
	imports := map[string]bool{}
	for _, name := range parsed.Unresolved {
		if path, ok := known[name.Name]; ok && !strings.Contains(b.text, `"`+path+`"`) {
			imports[fmt.Sprintf("import %s %q\n", name.Name, path)] = true
		}
	}
	return clause + strings.Join(slices.Sorted(maps.Keys(imports)), "") + text, nil
}

var (
	sending  = regexp.MustCompile(`client\.\w+\.Send(Once|All)?\(`)
	handling = regexp.MustCompile(`(?:Handle\("([^"]+)", )?hooks\.(\w+)\(func\(`)
)

// running returns the line of a fragment for the test, or "" if it neither sends nor handles. Those on a database are run by the tests of
// messagingriver.
func running(file string, b block) string {
	sends, handlers := sending.MatchString(b.text), handling.FindAllStringSubmatch(b.text, -1)
	if !sends && handlers == nil || strings.Contains(b.text, "sqlstore.") || strings.Contains(b.text, "conversations.") {
		return ""
	}
	byPath := map[string]string{}
	for _, found := range handlers {
		byPath[cmp.Or(found[1], "/")] = found[2]
	}
	return fmt.Sprintf("\t{%q, line%d, %t, %#v},\n", fmt.Sprintf("%s:%d", file, b.line), b.line, sends, byPath)
}

const clause = "package readme\n"

func parse(text string) (*ast.File, error) {
	return parser.ParseFile(token.NewFileSet(), "", clause+text, 0)
}

// uses returns statements that use the variables that a statement declares, for the end of its line.
func uses(statement ast.Stmt) (text string) {
	if assigned, ok := statement.(*ast.AssignStmt); ok && assigned.Tok == token.DEFINE {
		for _, left := range assigned.Lhs {
			if name := left.(*ast.Ident).Name; name != "_" {
				text += "; use(" + name + ")"
			}
		}
	}
	return text
}
