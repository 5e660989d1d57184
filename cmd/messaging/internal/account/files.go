package account

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ownerOnly is the mode of the files of a listing, which hold phone numbers and texts.
const ownerOnly = 0o600

// createFile creates a file, which must not exist.
func createFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, ownerOnly) //nolint:gosec // the user names it
}

// truncate truncates a file of a listing and moves to its new end. A file that is shorter already is an error: it has lost rows.
func truncate(file *os.File, size int64) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < size {
		return fmt.Errorf("%s has %d bytes, of %d that were written; remove it and %s to begin again",
			file.Name(), info.Size(), size, statePath(file.Name()))
	}
	if err = file.Truncate(size); err != nil {
		return err
	}
	_, err = file.Seek(size, io.SeekStart)
	return err
}

// replaceFile replaces a file in one step, so that a crash leaves the old or the new one. A new file that an earlier crash left is removed.
func replaceFile(path string, data []byte) error {
	name := newPath(path)
	if err := remove(name); err != nil {
		return err
	}
	temporary, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownerOnly) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	if err = writeSynced(temporary, data); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	if err = os.Rename(name, path); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// newPath returns the path of a file that is to replace another.
func newPath(path string) string { return path + ".new" }

// writeSynced writes a file, syncs it, and closes it.
func writeSynced(file *os.File, data []byte) error {
	_, writeErr := file.Write(data)
	syncErr := file.Sync()
	closeErr := file.Close()
	return errors.Join(writeErr, syncErr, closeErr)
}

// removeAll removes the files that exist.
func removeAll(names []string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, remove(name))
	}
	return errors.Join(errs...)
}

// remove removes a file if there is one.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
