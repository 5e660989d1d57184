// Command readmecheck checks the code blocks of Markdown pages against the repository in the current directory. The words after the
// fence say what a block is:
//
//	go               a program, or the inside of a function that returns an error. It must build, pass vet and be formatted. A program
//	                 is run if the next block is marked text, and must print it. One that reads DATABASE_URL needs .ci/with-postgres.
//	go path/file.go  an excerpt: these lines are in that file, whose tests build it. A line "..." stands for lines left out. So is
//	                 sql path/file.go.
//	json             a contract, which contract.Parse accepts
//	json NAME        a file for the shell commands of the page; so is text NAME
//	sh               shell commands. A block with the commands messaging or outbox is run against the sandbox (.ci/readme starts it).
//	sh WORD          shell commands that need something that a check has not, such as an account, and are not run
//
// preamble/preamble.go has the imports of the fragments, and declares what they leave to the reader. Fragments that send, and those with
// handlers, are run by preamble/guides_test.go under lost responses.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
)

var (
	//go:embed preamble/preamble.go
	preamble string
	//go:embed preamble/guides_test.go
	guides string

	fenced      = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")
	indentation = regexp.MustCompile(`(?m)^[ \t]+`)
	ellipsis    = regexp.MustCompile(`(?m)^\.\.\.\n`)
	commandLine = regexp.MustCompile(`(?m)^(.*\| )?(messaging|outbox) `)
	serverLine  = regexp.MustCompile(`(?m)^messaging (sandbox|listen)[^#&\n]*`)
	handling    = regexp.MustCompile(`(?:Handle\("([^"]+)", )?hooks\.(\w+)\(func\(`)
)

func main() {
	c := checker{outputs: map[string]string{}}
	if err := c.run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d Go blocks built, %d of them programs that were run, %d run under lost responses; %d excerpts; %d contracts; %d shell commands run\n",
		c.built, len(c.outputs), len(c.table), c.excerpts, c.contracts, c.commands)
}

// A block is a fenced block of a page.
type block struct {
	page string
	line int
	info []string // the words after the fence
	text string
}

func (b block) is(kind string) bool { return len(b.info) > 0 && b.info[0] == kind }

// checker collects the Go of all pages into one module, and checks the other blocks as it meets them.
type checker struct {
	work      string            // a temporary folder with the module
	outputs   map[string]string // what a program has to print, by its folder in the module
	fragments strings.Builder   // the functions of all fragments
	table     []string          // the lines of guides_test.go's table

	built, excerpts, contracts, commands int
}

func (c *checker) run(pages []string) (err error) {
	if c.work, err = os.MkdirTemp("", "readme"); err != nil {
		return err
	}
	defer os.RemoveAll(c.work)
	for _, page := range pages {
		if err := c.checkPage(page); err != nil {
			return err
		}
	}
	return c.buildAndRun()
}

func (c *checker) checkPage(page string) error {
	blocks, err := readBlocks(page)
	if err != nil {
		return err
	}
	folder := filepath.Join(c.work, "shell-"+filepath.Base(page))
	if err := os.CopyFS(folder, os.DirFS(".ci/readmecheck/files")); err != nil {
		return err
	}
	for i, b := range blocks {
		next := block{} // of a program, what it prints
		if i+1 < len(blocks) {
			next = blocks[i+1]
		}
		switch isPlain := len(b.info) == 1; {
		case b.is("go") && isPlain:
			err = c.addGo(b, next)
		case b.is("go"), b.is("sql") && !isPlain:
			c.excerpts++
			err = checkExcerpt(b.text, b.info[1])
		case b.is("json") && isPlain:
			c.contracts++
			_, err = contract.Parse([]byte(b.text))
		case b.is("json") || b.is("text") && !isPlain:
			err = writeFile(filepath.Join(folder, b.info[1]), b.text)
		case b.is("sh") && isPlain:
			err = c.runShell(b.text, folder)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", page, b.line, err)
		}
	}
	return nil
}

// readBlocks returns the fenced blocks of a page.
func readBlocks(page string) (blocks []block, err error) {
	text, err := os.ReadFile(page)
	for _, at := range fenced.FindAllSubmatchIndex(text, -1) {
		line := bytes.Count(text[:at[0]], []byte("\n")) + 1
		info := strings.Fields(string(text[at[2]:at[3]]))
		blocks = append(blocks, block{page: page, line: line, info: info, text: string(text[at[4]:at[5]])})
	}
	return blocks, err
}

// checkExcerpt checks that a file has the lines of a block, in order and with any indentation.
func checkExcerpt(text, file string) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := indentation.ReplaceAllString(text, "")
	rest := "\n" + indentation.ReplaceAllString(string(source), "")
	for _, part := range ellipsis.Split(lines, -1) {
		_, after, isFound := strings.Cut(rest, "\n"+part)
		if !isFound {
			return fmt.Errorf("these lines are not in %s", file)
		}
		rest = "\n" + after
	}
	return nil
}

// runShell runs the commands of a block, with a program that takes every callback at port 8080. A command that serves until it is stopped
// must still run after a second.
func (c *checker) runShell(script, folder string) error {
	count := len(commandLine.FindAllString(script, -1))
	if count == 0 {
		return nil
	}
	c.commands += count
	program := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer program.Close()
	script = strings.ReplaceAll(script, "127.0.0.1:8080", program.Listener.Addr().String())
	script = serverLine.ReplaceAllString(script, `timeout 1 $0 --listen 127.0.0.1:0 || [[ $$? == 124 ]] `)
	script = "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + script
	_, err := command(folder, []string{"DATABASE_URL=outbox.db"}, "bash", "-c", script)
	return err
}

// addGo adds a block to the module.
func (c *checker) addGo(b block, next block) error {
	c.built++
	if formatted, err := format.Source([]byte(b.text)); err != nil || string(formatted) != b.text {
		return fmt.Errorf("gofmt would change this block (%v)", err)
	}
	name := strings.TrimSuffix(filepath.Base(b.page), ".md") + fmt.Sprint(b.line)
	position := fmt.Sprintf("//line %s:%d\n", b.page, b.line+1) // the compiler then reports lines of the page
	if strings.Contains("\n"+b.text, "\npackage main\n") {
		hasDatabase := os.Getenv("OUTBOX_POSTGRES") != "" || !strings.Contains(b.text, "DATABASE_URL")
		if next.is("text") && hasDatabase {
			c.outputs[name] = next.text
		}
		return writeFile(filepath.Join(c.work, name, "main.go"), position+b.text)
	}
	function, err := wrapStatements(name, position, b.text)
	if err != nil {
		return err
	}
	c.fragments.WriteString(function)
	c.addToTable(b, name)
	return nil
}

// wrapStatements makes a function of statements. A variable that they declare for the reader counts as used.
func wrapStatements(name, position, statements string) (string, error) {
	const head = "package p; func f() {\n"
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", head+statements+"}", parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	function, isFunction := file.Decls[0].(*ast.FuncDecl)
	if !isFunction {
		return "", errors.New("want statements")
	}
	var body strings.Builder
	begin := 0
	for _, statement := range function.Body.List {
		end := files.Position(statement.End()).Offset - len(head)
		body.WriteString(statements[begin:end])
		if names := declaredBy(statement); len(names) > 0 {
			fmt.Fprintf(&body, "; use(%s)", strings.Join(names, ", "))
		}
		begin = end
	}
	body.WriteString(statements[begin:])
	// The statements may end with a return or not: "if true" allows both.
	return fmt.Sprintf("func %s() error { if true {\n%s%s\n}\nreturn nil }\n", name, position, body.String()), nil
}

// declaredBy returns the variables that a statement declares.
func declaredBy(statement ast.Stmt) (names []string) {
	assignment, isAssignment := statement.(*ast.AssignStmt)
	if !isAssignment || assignment.Tok != token.DEFINE {
		return nil
	}
	for _, variable := range assignment.Lhs {
		if name, isName := variable.(*ast.Ident); isName && name.Name != "_" {
			names = append(names, name.Name)
		}
	}
	return names
}

// addToTable adds a fragment to the table of guides_test.go if it sends or handles. Those on a database are run by the tests of
// messagingriver.
func (c *checker) addToTable(b block, name string) {
	sends := strings.Contains(b.text, ".Send")
	handlers := map[string]string{}
	for _, found := range handling.FindAllStringSubmatch(b.text, -1) {
		handlers[found[1]] = found[2]
	}
	isInText := func(part string) bool { return strings.Contains(b.text, part) }
	needsDatabase := slices.ContainsFunc([]string{"sqlstore.", "conversations.", "book.", "db."}, isInText)
	if !needsDatabase && (sends || len(handlers) > 0) {
		c.table = append(c.table, fmt.Sprintf("\t{\"%s:%d\", %s, %t, %#v},\n", b.page, b.line, name, sends, handlers))
	}
}

// buildAndRun builds the module in a workspace with the modules of the repository, runs its test, and runs its programs.
func (c *checker) buildAndRun() error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	files := map[string]string{
		"go.mod":         "module readme\n\ngo 1.26.0\n",
		"go.work":        fmt.Sprintf("go 1.26.0\nuse (\n.\n%[1]q\n\"%[1]s/messagingriver\"\n)\n", root),
		"guides.go":      preamble + c.fragments.String(),
		"guides_test.go": guides + "var fragments = []fragment{\n" + strings.Join(c.table, "") + "}\n",
	}
	for name, text := range files {
		if err := writeFile(filepath.Join(c.work, name), text); err != nil {
			return err
		}
	}
	environment := []string{"GOWORK=" + filepath.Join(c.work, "go.work"), "DATABASE_URL=" + os.Getenv("OUTBOX_POSTGRES")}
	if _, err := command(c.work, environment, "go", "test", "-vet=all", "./..."); err != nil {
		return err
	}
	for name, want := range c.outputs {
		got, err := command(c.work, environment, "go", "run", "./"+name)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("the program %s prints\n%s", name, got)
		}
	}
	return nil
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// command runs a program in a folder and returns its standard output. Its error has all that it wrote.
func command(folder string, environment []string, name string, arguments ...string) (string, error) {
	cmd := exec.Command(name, arguments...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), environment...)
	output, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(arguments, " "), err, output, failed.Stderr)
	}
	return string(output), err
}
