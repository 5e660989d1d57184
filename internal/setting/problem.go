// Package setting says what is wrong with the settings of a client. The commands of this repository say the same with the names of their flags.
package setting

import (
	"errors"
	"strings"
)

// A Problem is one thing wrong with a setting.
type Problem struct {
	// Setting is an option such as "WithTimeout", an environment variable, or an argument.
	Setting string
	// Reason says what is wrong and what is allowed. It names no option.
	Reason string
	// Advice continues the Reason, with %s in place of Option. Both are "" if no other option helps.
	Advice string
	Option string
}

// Text returns the reason and the advice.
func (p Problem) Text() string {
	return p.Reason + strings.ReplaceAll(p.Advice, "%s", p.Option)
}

// renamed returns the problem with other names of options. It has no advice if the name of its option is not known.
func (p Problem) renamed(names map[string]string) Problem {
	if name, isKnown := names[p.Setting]; isKnown {
		p.Setting = name
	}
	name, isKnown := names[p.Option]
	p.Option = name
	if !isKnown {
		p.Advice = ""
	}
	return p
}

// ProblemsError is an error that lists what is wrong with the settings of a client. It is a cause of a *messaging.ValidationError.
type ProblemsError []Problem

// Error returns each setting with what is wrong.
func (p ProblemsError) Error() string {
	texts := make([]string, len(p))
	for i, problem := range p {
		texts[i] = problem.Setting + ": " + problem.Text()
	}
	return strings.Join(texts, "; ")
}

// Rename returns the error of creating a client, with other names of options: what the user of a command sets instead, such as a flag. An
// option without such a name is not recommended. Any other error is returned as it is.
func Rename(err error, names map[string]string) error {
	problems, isFound := errors.AsType[ProblemsError](err)
	if !isFound {
		return err
	}
	renamed := make(ProblemsError, len(problems))
	for i, problem := range problems {
		renamed[i] = problem.renamed(names)
	}
	return renamed
}
