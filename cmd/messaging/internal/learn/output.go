package learn

import (
	"errors"
	"os"
	"path/filepath"
)

// The permissions of written files.
const (
	readable  = 0o644 // of an overlay, which holds no secret
	ownerOnly = 0o600 // of typed examples, which can hold the credentials of an account
)

// exists reports whether there is a file with a name.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return name != "" && err == nil
}

// create writes a new file.
func create(name, text string, permissions os.FileMode) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, permissions) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// replace writes a file that may exist. If that fails, the file stays as it was.
func replace(name, text string) error {
	written, err := os.CreateTemp(filepath.Dir(name), ".contract-*")
	if err != nil {
		return err
	}
	_, writeErr := written.WriteString(text)
	err = errors.Join(writeErr, written.Chmod(readable), written.Close())
	if err == nil {
		err = os.Rename(written.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(written.Name()))
	}
	return nil
}
