// Command modzip writes a module as a module proxy serves it, into a folder that can be a GOPROXY:
//
//	modzip FOLDER VERSION PROXY
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: modzip FOLDER VERSION PROXY")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "modzip:", err)
		os.Exit(1)
	}
}

func write(folder, version, proxy string) error {
	mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	m := module.Version{Path: modfile.ModulePath(mod), Version: version}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	base := filepath.Join(proxy, escaped, "@v")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(base, version+".zip"))
	if err != nil {
		return err
	}
	return errors.Join(
		zip.CreateFromDir(file, m, folder), file.Close(),
		os.WriteFile(filepath.Join(base, version+".mod"), mod, 0o644),
		os.WriteFile(filepath.Join(base, version+".info"), info, 0o644),
		os.WriteFile(filepath.Join(base, "list"), []byte(version+"\n"), 0o644),
	)
}
