package doctor

import (
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
)

//go:embed synonyms.txt
var synonyms string

// concept is something that a service may say, and what it may be called.
type concept struct {
	name    string // in the contract
	kind    string // of its values
	phrases []phrase
	words   map[string]bool // of all phrases
	around  map[string]bool // that may stand around a phrase
}

// phrase is a name as words. One that is not specific counts only if no foreign word stands beside it.
type phrase struct {
	words      []string
	isSpecific bool
}

// vocabulary is what synonyms.txt holds: concepts by their names, and words by what they are.
type vocabulary struct {
	concepts map[string]concept
	sets     map[string]map[string]bool
}

var readVocabulary = sync.OnceValue(func() vocabulary { //nolint:gochecknoglobals // never written
	v := vocabulary{map[string]concept{}, map[string]map[string]bool{}}
	for line := range strings.Lines(synonyms) {
		switch parts := strings.Split(strings.TrimSpace(line), " | "); len(parts) {
		case 2:
			v.sets[parts[0]] = set(strings.Fields(parts[1]))
		case 3:
			c := concept{name: parts[0], kind: parts[1], words: map[string]bool{}, around: v.sets["around "+parts[1]]}
			for name := range strings.SplitSeq(parts[2], ", ") {
				plain := strings.TrimPrefix(name, "*")
				p := phrase{strings.Fields(plain), plain == name}
				c.phrases = append(c.phrases, p)
				maps.Copy(c.words, set(p.words))
			}
			v.concepts[c.name] = c
		}
	}
	return v
})

func set(words []string) map[string]bool {
	all := map[string]bool{}
	for _, word := range words {
		all[word] = true
	}
	return all
}

// guesser finds concepts in the names and values of members that the contract does not claim.
type guesser struct {
	concepts []concept
	known    map[string]bool // words of all phrases
	neutral  map[string]bool // words that say nothing
	affixes  map[string]bool // words that most names begin or end with
}

// newGuesser returns a guesser for the concepts of a section of the contract. Containers are words that say nothing there. The
// columns are all that a document has.
func newGuesser(section map[string][]string, containers string, all []column) *guesser {
	v := readVocabulary()
	g := &guesser{known: maps.Clone(v.sets["foreign"]), neutral: set(strings.Fields(containers))}
	maps.Copy(g.neutral, v.sets["neutral"])
	for _, name := range slices.Sorted(maps.Keys(section)) {
		if c, ok := v.concepts[name]; ok {
			g.concepts = append(g.concepts, c)
			maps.Copy(g.known, c.words)
		}
	}
	g.affixes = g.findAffixes(all)
	return g
}

// findAffixes returns the words that at least half of the names begin or end with, and the objects that hold several members although
// their names are no words of concepts.
func (g *guesser) findAffixes(all []column) map[string]bool {
	const few = 3
	type place struct{ kind, word string }
	counts := map[place]int{}
	for _, c := range all {
		above, own := g.words(c.path)
		if len(own) > 1 {
			counts[place{"first", own[0]}]++
			counts[place{"last", own[len(own)-1]}]++
		}
		for _, word := range above {
			counts[place{"above", word}]++
		}
	}
	found := map[string]bool{}
	for at, n := range counts {
		if isObject := at.kind == "above"; n >= few && (isObject && !g.known[at.word] || !isObject && n*2 >= len(all)) {
			found[at.word] = true
		}
	}
	return found
}

// boundary is where a word of a name ends: before a capital, and at what is no letter and no digit.
var boundary = regexp.MustCompile(`[A-Z]+[0-9]*(?:[a-z][a-z0-9]*)?|[a-z][a-z0-9]*`)

// words returns the words of a path: those of the objects around a member, and its own.
func (g *guesser) words(path string) (above, own []string) {
	for part := range strings.SplitSeq(path, ".") {
		if !table.IsPosition(part) {
			above, own = append(above, own...), g.split(part)
		}
	}
	return above, own
}

func (g *guesser) split(name string) (words []string) {
	for _, word := range boundary.FindAllString(name, -1) {
		// Of "SMSText", the last capital begins a word.
		if n := strings.IndexFunc(word, unicode.IsLower); n > 1 && strings.ToUpper(word[:n]) == word[:n] && !unicode.IsDigit(rune(word[n-1])) {
			words = append(words, g.segment(strings.ToLower(word[:n-1]))...)
			word = word[n-1:]
		}
		words = append(words, g.segment(strings.ToLower(word))...)
	}
	return words
}

// segment returns the known words that a word is made of, such as those of "sendstatus", or the word itself.
func (g *guesser) segment(word string) []string {
	if plain := strings.TrimRight(word, "0123456789"); plain != "" && g.isKnown(plain) {
		word = plain
	}
	if g.isKnown(word) {
		return []string{word}
	}
	if singular := strings.TrimSuffix(word, "s"); g.isKnown(singular) && len(singular) > 2 {
		return []string{singular}
	}
	const shortest = 2
	for i := len(word) - shortest; i >= shortest; i-- {
		if !g.isKnown(word[:i]) {
			continue
		}
		rest := g.segment(word[i:])
		if !slices.ContainsFunc(rest, func(w string) bool { return !g.isKnown(w) }) {
			return append([]string{word[:i]}, rest...)
		}
	}
	return []string{word}
}

func (g *guesser) isKnown(word string) bool { return g.known[word] || g.neutral[word] }

// saysNothing reports whether a word beside a phrase makes no difference.
func (g *guesser) saysNothing(word string) bool {
	return g.neutral[word] || g.affixes[word] || len(word) == 1
}

// score returns how well the words of a path fit a concept, or 0 if they do not.
func (g *guesser) score(c concept, above, own []string) (best int) {
	const (
		perWord   = 10
		ownName   = 5
		unknown   = 4
		leastGood = 5
	)
	words := slices.Concat(above, own)
	isOnlyAround := !slices.ContainsFunc(own, func(word string) bool { return !c.around[word] }) // the object says what it is
	for place, p := range c.phrases {
		for i := 0; i+len(p.words) <= len(words); i++ {
			end := i + len(p.words)
			if !slices.Equal(words[i:end], p.words) || end <= len(above) && !isOnlyAround {
				continue
			}
			score, foreign := perWord*len(p.words), 0
			if place == 0 {
				score += ownName
			}
			for at, word := range slices.Concat(words[:i], words[end:]) {
				switch {
				case g.saysNothing(word):
				case c.around[word] || c.words[word]:
					score--
				case g.known[word] || !p.isSpecific || at >= i: // the last word of a name says what it is
					foreign += perWord
				default:
					foreign++
				}
			}
			if foreign <= 2 && len(above) > 0 {
				score--
			}
			if score -= unknown * foreign; foreign <= 2 && score >= leastGood {
				best = max(best, score)
			}
		}
	}
	return best
}

// guess returns, by concept, the path of the column that is surely meant: it fits the concept better than any other, the concept
// fits it better than any other, and its values are of the kind. Only unclaimed columns and wanted concepts are matched.
func (g *guesser) guess(unclaimed []column, wanted []string) map[string]string {
	const margin, enough = 3, 5
	type candidate struct {
		column

		score int
	}
	candidates := map[string][]candidate{}
	for _, col := range unclaimed {
		above, own := g.words(col.path)
		best, second, of := 0, 0, ""
		for _, c := range g.concepts {
			score := g.score(c, above, own)
			switch {
			case score > 0 && !fits(c.kind, col.values):
			case score > best:
				best, second, of = score, best, c.name
			default:
				second = max(second, score)
			}
		}
		if best > second && slices.Contains(wanted, of) {
			if len(col.values) == 0 {
				best -= 2 * margin // nothing shows what it holds
			}
			candidates[of] = append(candidates[of], candidate{col, best})
		}
	}
	found := map[string]string{}
	for name, all := range candidates {
		slices.SortStableFunc(all, func(a, b candidate) int { return b.score - a.score })
		if all[0].score >= enough && (len(all) == 1 || all[0].score-all[1].score >= margin || sameValues(all[0].column, all[1].column)) {
			found[name] = all[0].path
		}
	}
	return found
}

func sameValues(a, b column) bool {
	return len(a.values) > 0 && slices.EqualFunc(a.values, b.values, func(x, y document.Node) bool { return x.Text() == y.Text() })
}

// fits reports whether values are of a kind.
func fits(kind string, values []document.Node) bool {
	distinct := map[string]bool{}
	for _, v := range values {
		if distinct[v.Text()] = true; !isOfKind(kind, v) {
			return false
		}
	}
	return kind != "id" || len(distinct) == len(values)
}

// The values that only some concepts have.
var (
	isCountry  = regexp.MustCompile(`^([A-Za-z]{2,3}|[0-9]{1,3})$`)
	isCurrency = regexp.MustCompile(`^[A-Z]{3}$`)
	isNetwork  = regexp.MustCompile(`^[0-9]{5,6}$`) // country and network
	isMoney    = regexp.MustCompile(`^[+-]?([A-Z]{3} ?[+-]?[0-9]{0,9}\.?[0-9]{1,9}|[0-9]{0,9}\.?[0-9]{1,9} ?[A-Z]{3})$`)
)

// passes reports whether values pass a test of what a concept holds that others fail. A text passes none: any could be one.
func (d *doctor) passes(concept string, values []document.Node) bool {
	all := func(form *regexp.Regexp) bool {
		return !slices.ContainsFunc(values, func(v document.Node) bool { return !form.MatchString(v.Text()) })
	}
	kind := readVocabulary().concepts[concept].kind
	switch {
	case len(values) == 0:
		return false
	case concept == "currency":
		return all(isCurrency)
	case concept == "country":
		return all(isCountry)
	case concept == "operator":
		return all(isNetwork)
	case kind == "status":
		return slices.ContainsFunc(values, func(v document.Node) bool { return d.knowsWord(v.Text()) })
	case kind == "sender":
		return fits("phone", values)
	}
	return slices.Contains([]string{"phone", "count", "amount", "time", "flag"}, kind) && fits(kind, values)
}

// knowsWord reports whether the contract knows a word of a status.
func (d *doctor) knowsWord(word string) bool {
	s := d.table.SMSSend
	return d.statusOf(word) != "" || table.Match(s.Accepted, word, true) >= 0 || table.Match(s.Refused, word, true) >= 0
}

func isOfKind(kind string, v document.Node) bool {
	const longID, longName, longWord, longAmount = 128, 64, 40, 16
	s := v.Text()
	isPlain := !v.IsBool() && !isURL.MatchString(s) && !isTime(s)
	isWordy := isPlain && len(s) <= longID && !strings.ContainsAny(s, "\n\r\t")
	switch kind {
	case "id":
		return isWordy && !strings.Contains(s, " ") && (v.IsString() || isDigits.MatchString(s))
	case "word":
		return isWordy && (v.IsString() || isDigits.MatchString(s))
	case "phone":
		return isPlain && isPhone.MatchString(table.Number(s))
	case "sender":
		return isWordy && len(s) <= longWord
	case "text":
		return isPlain && v.IsString()
	case "count":
		return isWhole.MatchString(s) || isDigits.MatchString(s) && len(s) < 10
	case "amount":
		isNumber := isDigits.MatchString(s) && len(s) > 9 // of a person, perhaps
		isPlainAmount := isDecimal.MatchString(s) && len(s) <= longAmount && !strings.HasPrefix(s, "00") && !isNumber
		return isPlain && (isPlainAmount || isMoney.MatchString(s))
	case "currency":
		return v.IsString() && len([]rune(s)) <= 4 && !isDecimal.MatchString(s)
	case "time":
		return timeForm(s) != "" || v.IsString() && len(layoutsOf([]document.Node{v})) > 0
	case "status":
		return isWordy && len(s) <= longWord && !isPhone.MatchString(s)
	case "name":
		return isPlain && len(s) <= longName && !strings.HasPrefix(s, "+")
	case "code":
		return isWordy && !strings.Contains(s, " ") && len(s) <= longWord
	case "flag":
		return v.IsBool() || slices.Contains([]string{"0", "1", "true", "false", "yes", "no"}, strings.ToLower(s))
	default: // a cursor
		return !v.IsBool()
	}
}

// best returns the path of the column whose name fits a concept better than those of the others, or "".
func (g *guesser) best(concept string, among []column) string {
	best, second := 0, 0
	var found column
	for _, c := range among {
		above, own := g.words(c.path)
		score := g.score(readVocabulary().concepts[concept], above, own)
		switch {
		case score > best && !sameValues(c, found):
			best, second, found = score, best, c
		case score > best:
			best, found = score, c
		case !sameValues(c, found):
			second = max(second, score)
		}
	}
	if best == second {
		return ""
	}
	return found.path
}

// isAny reports whether a name fits any concept, or says that it is of something else.
func (g *guesser) isAny(above, own []string) bool {
	foreign := readVocabulary().sets["foreign"]
	isIt := func(c concept) bool { return g.score(c, above, own) > 0 }
	return slices.ContainsFunc(g.concepts, isIt) || slices.ContainsFunc(slices.Concat(above, own), func(word string) bool { return foreign[word] })
}
