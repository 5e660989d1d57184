package table

import (
	_ "embed"
	"sync"
)

// EnvFile is the environment variable that names the file of contract.FromEnv.
const EnvFile = "MESSAGING_CONTRACT"

// defaults is the default table in JSON. It has every key.
//
//go:embed default.json
var defaults string

// Default returns the default table, which is parsed once and shared.
func Default() *Table { return parsedDefaults() }

var parsedDefaults = sync.OnceValue(func() *Table { return decodeTable(defaults) }) //nolint:gochecknoglobals // never written
