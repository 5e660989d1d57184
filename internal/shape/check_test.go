package shape

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// problems returns what is wrong with a value of these types.
func problems(value any) []wire.Problem {
	c := New(value).NewChecker(func(*Checker, reflect.Value) {})
	c.Value("V", reflect.ValueOf(value))
	return c.Checks
}

func TestRules(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		good, bad []any
		reason    string
		limit     bool
	}{
		"required": {
			good: []any{struct {
				F string `at:"f,required"`
			}{"a"}},
			bad: []any{struct {
				F string `at:"f,required"`
			}{}},
			reason: "required, but absent",
		},
		"required is not blank": {
			bad: []any{struct {
				F string `at:"f,required"`
			}{" \n"}},
			reason: "must not be white space only",
		},
		"required interface": {
			bad: []any{struct {
				F interface{ Len() int } `at:"f,required"`
			}{}},
			reason: "required, but nil",
		},
		"present": {
			good: []any{struct {
				F time.Time `at:"f,present"`
			}{time.Unix(1, 0)}},
			bad: []any{struct {
				F time.Time `at:"f,present"`
			}{}},
			reason: "required, but absent",
		},
		"notblank": {
			good: []any{struct {
				F string `at:"f,notblank"`
			}{}},
			bad: []any{struct {
				F string `at:"f,notblank"`
			}{" "}},
			reason: "must not be white space only",
		},
		"max": {
			good: []any{struct {
				F string `at:"f,max=2"`
			}{"éé"}},
			bad: []any{struct {
				F string `at:"f,max=2"`
			}{"ééé"}},
			reason: "want at most 2 characters, got 3", limit: true,
		},
		"oneof": {
			good: []any{struct {
				F string `at:"f,oneof=a|b"`
			}{"b"}},
			bad: []any{struct {
				F string `at:"f,oneof=a|b"`
			}{"c"}},
			reason: `want "a" or "b"`, limit: true,
		},
		"name": {
			good: []any{struct {
				F string `at:"f,name"`
			}{"a_1"}},
			bad: []any{struct {
				F string `at:"f,name"`
			}{"a-1"}, struct {
				F string `at:"f,name"`
			}{"A"}},
			reason: "lower-case letters", limit: true,
		},
		"alnum": {
			good: []any{struct {
				F string `at:"f,alnum"`
			}{"aZ9"}},
			bad: []any{struct {
				F string `at:"f,alnum"`
			}{"a9b c"}},
			reason: "want only letters and digits", limit: true,
		},
		"trimmed": {
			bad: []any{struct {
				F string `at:"f,trimmed"`
			}{"a "}},
			reason: "white space around it", limit: true,
		},
		"url": {
			good: []any{struct {
				F string `at:"f,url"`
			}{"https://a.example/b"}},
			bad: []any{struct {
				F string `at:"f,url"`
			}{"ftp://a.example"}},
			reason: "want an absolute URL",
		},
		"currency": {
			good: []any{struct {
				F string `at:"f,currency"`
			}{"PHP"}},
			bad: []any{struct {
				F string `at:"f,currency"`
			}{"php"}, struct {
				F string `at:"f,currency"`
			}{"PH"}},
			reason: "ISO 4217", limit: true,
		},
		"date": {
			good: []any{struct {
				F string `at:"f,date"`
			}{"2024-02-29"}},
			bad: []any{struct {
				F string `at:"f,date"`
			}{"2023-02-29"}},
			reason: "YYYY-MM-DD", limit: true,
		},
		"index": {
			good: []any{struct {
				F int `at:"f,index"`
			}{9}},
			bad: []any{struct {
				F int `at:"f,index"`
			}{10}},
			reason: "want 0 to 9", limit: true,
		},
		"a negative index": {
			bad: []any{struct {
				F int `at:"f,index"`
			}{-1}},
			reason: "must not be negative",
		},
		"degrees": {
			good: []any{struct {
				F float64 `at:"f,degrees=90"`
			}{-90}},
			bad: []any{struct {
				F float64 `at:"f,degrees=90"`
			}{90.1}, struct {
				F float64 `at:"f,degrees=90"`
			}{math.NaN()}},
			reason: "want degrees from -90 to 90",
		},
		"object": {
			good: []any{struct {
				F any `at:"f,object"`
			}{map[string]any{"a": 1}}, struct {
				F any `at:"f,object"`
			}{`{"a":1}`}, struct {
				F any `at:"f,object"`
			}{}},
			bad: []any{struct {
				F any `at:"f,object"`
			}{"a"}, struct {
				F any `at:"f,object"`
			}{map[string]any{}}},
			reason: "want a JSON object that is not empty",
		},
		"UTF-8": {
			bad: []any{struct {
				F string `at:"f"`
			}{"a\xff"}, struct {
				F json.RawMessage `at:"f"`
			}{json.RawMessage("\"\xff\"")}, struct {
				F string `at:"-"`
			}{"\xff"}},
			reason: "valid UTF-8",
		},
	} {
		for _, value := range tt.good {
			assert.Empty(t, problems(value), "%s: %+v", name, value)
		}
		for _, value := range tt.bad {
			found := problems(value)
			require.Len(t, found, 1, "%s: %+v", name, value)
			assert.Equal(t, "V.F", found[0].Field, name)
			assert.Contains(t, found[0].Reason, tt.reason, name)
			assert.Equal(t, tt.limit, found[0].Limit, name)
		}
	}
}

type checkRow struct {
	ID string `at:"id,required,unique"`
}

type checkInside struct {
	Rows []checkRow `at:"rows"`
}

type checkAll struct {
	checkInside

	Sections []checkInside `at:"sections"`
	Words    []string      `at:"words"`
}

func TestOrderOfRulesDoesNotMatter(t *testing.T) {
	t.Parallel()
	found := problems(struct {
		F string `at:"f,max=20,required"`
	}{})
	assert.Equal(t, []wire.Problem{{Field: "V.F", Reason: "required, but absent"}}, found)
}

func TestPointersAreCheckedLikeTheirValues(t *testing.T) {
	t.Parallel()
	type pointer struct {
		Row *checkRow `at:"row"`
	}
	assert.Empty(t, problems(pointer{}))
	assert.Equal(t, []wire.Problem{{Field: "V.Row.ID", Reason: "required, but absent"}}, problems(pointer{new(checkRow)}))
}

func TestProblemsNameTheField(t *testing.T) {
	t.Parallel()
	var fields []string
	for _, problem := range problems(checkAll{
		checkInside: checkInside{[]checkRow{{"a"}, {"a"}}},
		Sections:    []checkInside{{}, {[]checkRow{{"a"}, {"b"}, {""}}}},
		Words:       []string{"a", ""},
	}) {
		fields = append(fields, problem.Field)
	}
	assert.Equal(t, []string{"V.Rows[1].ID", "V.Sections[1].Rows[2].ID", "V.Words[1]"}, fields)
}

func TestRulesAreCalledFromTheInsideOut(t *testing.T) {
	t.Parallel()
	var seen []string
	c := New(checkAll{}).NewChecker(func(c *Checker, v reflect.Value) {
		seen = append(seen, v.Type().String())
		c.Count("", "things", 3, 1, 2)
	})
	c.Value("V", reflect.ValueOf(checkInside{[]checkRow{{"a"}}}))
	assert.Equal(t, []string{"shape.checkRow", "[]shape.checkRow", "shape.checkInside"}, seen)
	assert.Equal(t, wire.Checks{
		{Field: "V.Rows[0]", Reason: "want 1 to 2 things, got 3", Limit: true},
		{Field: "V.Rows", Reason: "want 1 to 2 things, got 3", Limit: true},
		{Field: "V", Reason: "want 1 to 2 things, got 3", Limit: true},
	}, c.Checks)
}

type checkTree struct {
	Branches []checkTree `at:"branches[each type=tree]"`
	Leaf     string      `at:"leaf"`
}

func TestNewPanicsOnAWrongTag(t *testing.T) {
	t.Parallel()
	const wrongOption = "F has an option that is unknown, or not for its type: "
	for want, value := range map[string]any{
		wrongOption + "maximum=2": struct {
			F string `at:"f,maximum=2"`
		}{},
		wrongOption + "url": struct {
			F int `at:"f,url"`
		}{},
		wrongOption + "max=2": struct {
			F []string `at:"f,max=2"`
		}{},
		"F has several rules, which only a text can have": struct {
			F any `at:"f,required,object"`
		}{},
		"F has a rule with a wrong value: max=4O96": struct {
			F string `at:"f,max=4O96"`
		}{},
		"F has a rule with a wrong value: degrees=": struct {
			F float64 `at:"f,degrees="`
		}{},
		"F has a rule with a wrong value: oneof=a||b": struct {
			F string `at:"f,oneof=a||b"`
		}{},
		"F has a rule with a wrong value: required=true": struct {
			F string `at:"f,required=true"`
		}{},
		wrongOption + "default=3": struct {
			F int `at:"f,default=3"`
		}{},
		wrongOption + "text": struct {
			F string `at:"f,text"`
		}{},
		`in place of ""`: struct {
			F string `at:"f..g"`
		}{},
		`in place of "f[type=a"`: struct {
			F string `at:"f[type=a"`
		}{},
		"the only element of a list must be the value: f[]": struct {
			F string `at:"f[].g"`
		}{},
		"two paths give the member f different values": struct {
			F string `at:"f"`
			G string `at:"f.g"`
		}{},
		"must end with the members of a sealed interface: type&action": struct {
			F any `at:"type&action.f"`
		}{},
		"checkTree holds itself, so its value next to type=tree needs a path": checkTree{},
		"F has no tag: at": struct{ F string }{},
		"an element with words needs a path to its value: f[type=a]": struct {
			F string `at:"f[type=a]"`
		}{},
		"string has no members to put next to type=a": struct {
			F []string `at:"f[each type=a]"`
		}{},
	} {
		message := func() (message any) {
			defer func() { message = recover() }()
			New(value)
			return nil
		}()
		assert.Contains(t, message, want)
	}
}

func TestGrammarListsEveryRule(t *testing.T) {
	t.Parallel()
	page := source(t, "doc.go")
	for kind := range reflect.UnsafePointer {
		for _, rule := range rulesFor(kind) {
			assert.Regexp(t, `(?m)^//\t`+rule+`\b`, page)
		}
	}
}
