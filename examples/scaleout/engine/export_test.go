package engine

// IsSupported is isSupported.
var IsSupported = isSupported //nolint:gochecknoglobals // for the tests outside of the package
