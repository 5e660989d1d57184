package shape

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func source(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

type animal interface{ place() Place }

type cat struct {
	Name string `at:"name"`
}

type cage struct {
	Inside animal `at:"animal"`
}

type rawAnimal struct {
	Type string          `at:"type"`
	Tail json.RawMessage `at:"tail"`
}

func (cat) place() Place       { return Place{"type=cat tail.kind=long", "tail.owner!"} }
func (cage) place() Place      { return Place{"type=cage", ""} }
func (rawAnimal) place() Place { return Place{} }

type zoo struct {
	Animals []animal `at:"animals"`
	Beside  animal   `at:"type&tail"`
}

func zooShapes() *Shapes {
	s := New(zoo{})
	AddUnion[animal](s, animal.place, cat{}, cage{}, rawAnimal{})
	return s
}

func TestAddUnionPanicsOnARule(t *testing.T) {
	t.Parallel()
	placeOf := func(animal) Place { return Place{"type=cat", "cat,required"} }
	assert.Panics(t, func() { AddUnion[animal](New(zoo{}), placeOf, cat{}) })
}

type sound string

func (sound) place() Place { return Place{"type=sound", "tail.text,default=purr"} }

func TestUnionWithADefault(t *testing.T) {
	t.Parallel()
	s := New(zoo{})
	AddUnion[animal](s, animal.place, sound(""))
	w := s.NewWriter([]byte("_"))
	w.Value(zoo{Animals: []animal{sound("")}})
	assert.JSONEq(t, `{"animals":[{"type":"sound","tail":{"text":"purr"}}]}`, string(w.Out[1:]))
}

func TestUnions(t *testing.T) {
	t.Parallel()
	s := zooShapes()
	for document, want := range map[string]zoo{
		`{"animals":[{"type":"cat","tail":{"kind":"long","owner":{"name":"Ana"}}}]}`: {Animals: []animal{cat{"Ana"}}},
		`{"animals":[{"type":"cage","animal":{"type":"cat","tail":{"kind":"long","owner":{}}}}]}`: {
			Animals: []animal{cage{cat{}}},
		},
		`{"type":"cat","tail":{"kind":"long","owner":{"name":"Ana"}}}`: {Beside: cat{"Ana"}},
		`{"animals":[{"type":"dog"},{"type":"cat","tail":{"kind":"short"}},{"type":"cat","tail":{"kind":"long","owner":{"age":1}}}]}`: {
			Animals: []animal{
				rawAnimal{Type: "dog"},
				rawAnimal{"cat", json.RawMessage(`{"kind":"short"}`)},
				rawAnimal{"cat", json.RawMessage(`{"kind":"long","owner":{"age":1}}`)},
			},
		},
	} {
		var got zoo
		assert.Equal(t, Exact, s.Read(Decode([]byte(document)), &got), document)
		assert.Equal(t, want, got)
		w := s.NewWriter(nil)
		w.Value(got)
		require.NoError(t, w.Err)
		assert.JSONEq(t, document, string(w.Out))
	}
}

func TestEmptyTextChoosesNoType(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]animal{
		`{"type":""}`:           nil,
		`{"type":"","tail":{}}`: rawAnimal{Tail: json.RawMessage(`{}`)},
	} {
		var got zoo
		assert.Equal(t, Exact, zooShapes().Read(Decode([]byte(document)), &got), document)
		assert.Equal(t, want, got.Beside, document)
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]struct {
		fit Fit
		ok  bool
	}{
		`{"type":"cat","tail":{"kind":"long","owner":{"name":"Ana"}}}`: {Exact, true},
		`{"type":"cat","tail":{"kind":"long","owner":{"age":1}}}`:      {Partial, true},
		`{"type":"cat","tail":{"kind":"long","owner":{"name":1}}}`:     {Misfit, true},
		`{"type":"dog"}`: {Misfit, false},
		`[]`:             {Misfit, false},
	} {
		best, fit, ok := Best[animal](zooShapes(), Decode([]byte(document)))
		assert.Equal(t, want.fit, fit, document)
		assert.Equal(t, want.ok, ok, document)
		assert.Equal(t, ok, best != nil, document)
	}
}

func TestWriterRejectsAPointer(t *testing.T) {
	t.Parallel()
	w := zooShapes().NewWriter(nil)
	w.Value(zoo{Animals: []animal{&cat{}}})
	assert.ErrorContains(t, w.Err, "must be a value, not a pointer: shape.cat{…}")
}

func TestWriterKeepsTheFirstError(t *testing.T) {
	t.Parallel()
	w := zooShapes().NewWriter(nil)
	w.Value(zoo{Animals: []animal{&cat{}, struct{ cat }{}}})
	assert.ErrorContains(t, w.Err, "not a pointer")
}

// What a type holds exactly is written again as it was.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"animals":[{"type":"cat","tail":{"kind":"LONG","owner":{"name":"Ana"}}}]}`, `{"type":"dog"}`, `{"animals":[null]}`, `null`, `{"animals":{}}`, `1`, `{`,
		`{"animals":[{"type":"cage","animal":{"type":"cage","animal":{"type":"cat","tail":{"kind":"long","owner":{}}}}}]}`, `{"type":"cat","tail":{"kind":"long"}}`,
	} {
		f.Add([]byte(seed))
	}
	s := zooShapes()
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second zoo
		if value := Decode(data); value == nil || s.Read(value, &first) != Exact {
			return
		}
		w := s.NewWriter(nil)
		w.Value(first)
		if w.Err != nil {
			return // a text that is not valid UTF-8
		}
		require.Equal(t, Exact, s.Read(Decode(w.Out), &second), "%s", w.Out)
		assert.Equal(t, first, second)
	})
}
