package main

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// number matches cells that a spreadsheet reads as numbers, such as phone numbers.
var number = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?$`)

// withoutFormula returns a cell that no spreadsheet reads as a formula. An apostrophe makes it a text.
func withoutFormula(cell string) string {
	first, _ := utf8.DecodeRuneInString(cell)
	mayBeFormula := strings.ContainsRune("=+-@＝＋－＠\t\r\n", first)
	if mayBeFormula && !number.MatchString(cell) {
		return "'" + cell
	}
	return cell
}
