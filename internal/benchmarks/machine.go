package main

import (
	"os"
	"runtime"
	"strings"
)

// machine is what the figures depend on. It names no host and no path.
type machine struct {
	Processor string
	Cores     int
	Go        string
	System    string
}

func thisMachine() machine {
	return machine{
		Processor: processor("/proc/cpuinfo"), Cores: runtime.NumCPU(), Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// processor reads the model's name if the system has a file with it.
func processor(file string) string {
	info, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
