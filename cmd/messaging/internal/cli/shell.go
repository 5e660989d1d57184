package cli

import (
	"fmt"
	"regexp"
	"strings"
)

// ShellWord quotes a text for a shell if it needs to be.
func ShellWord(text string) string {
	rest := strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+/=:")
	if text != "" && rest == "" {
		return text
	}
	return ShellQuote(text)
}

// ShellQuote quotes a text for a POSIX shell. A text with control characters, which could end a paste and start another command, gets the
// quotes $'…' of bash, zsh and newer shells.
func ShellQuote(text string) string {
	control := regexp.MustCompile(`[^\P{Cc}\n\t]`)
	if !control.MatchString(text) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	text = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(text)
	return "$'" + control.ReplaceAllStringFunc(text, func(c string) string {
		return strings.ReplaceAll(fmt.Sprintf(" % x", c), " ", `\x`)
	}) + "'"
}
