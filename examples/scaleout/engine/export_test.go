package engine

// IsSupported is isSupported.
var IsSupported = isSupported
