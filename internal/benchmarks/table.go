package main

import (
	"fmt"
	"slices"
	"strings"
)

func (s spread) String() string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Lower, s.Upper)
}

// peers lists the client libraries with their versions.
func (r report) peers() string {
	var lines strings.Builder
	for _, p := range peers() {
		fmt.Fprintf(&lines, "| %s | `%s` %s | %s |\n", p.name, p.module, r.versions[p.module], p.does)
	}
	return "| client | module | what it does |\n|---|---|---|\n" + strings.TrimSuffix(lines.String(), "\n")
}

// table writes a work's contenders. The ratios are medians with their quartiles, the figures medians.
func (r report) table(name string) (string, error) {
	i := slices.IndexFunc(r.works, func(w work) bool { return w.name == name })
	if i < 0 {
		return "", fmt.Errorf("no work %q", name)
	}
	w, samples := r.works[i], r.samples[name]
	matched := slices.ContainsFunc(w.contenders, func(c contender) bool { return c.matched != "" })
	heads := []string{"who"}
	for _, m := range w.ratios {
		heads = append(heads, m.name+" ratio")
	}
	if matched {
		heads = append(heads, w.ratios[0].name+" ratio to the same by hand")
	}
	for _, f := range w.figures {
		heads = append(heads, f.title)
	}
	lines := []string{row(heads), "|---|" + strings.Repeat("---:|", len(heads)-1)}
	for _, c := range w.contenders {
		if c.hidden || len(samples[c.name]) == 0 {
			continue
		}
		cells := []string{c.name}
		for _, m := range w.ratios {
			cells = append(cells, spreadOf(ratios(samples[c.name], samples[w.floor], m)).String())
		}
		switch {
		case c.matched != "":
			cells = append(cells, spreadOf(ratios(samples[c.name], samples[c.matched], w.ratios[0])).String())
		case matched:
			cells = append(cells, "")
		}
		for _, f := range w.figures {
			cells = append(cells, number(spreadOf(values(samples[c.name], f.metric)).Median/f.divisor, f.digits))
		}
		if strings.HasPrefix(c.name, nameOurs) {
			cells[0] = "**" + c.name + "**"
		}
		lines = append(lines, row(cells))
	}
	return strings.Join(lines, "\n"), nil
}

func row(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }
