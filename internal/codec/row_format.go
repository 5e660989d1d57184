package codec

import (
	"cmp"
	"maps"
	"reflect"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// rowFormat is what the contract says about a row of a listing. It never changes once it is compiled.
type rowFormat struct {
	paths      paths
	columns    []column
	wholeRow   Place            // of a row that cannot be read at all
	cursor     []int            // slots of the cursor in the last row
	only       map[int][]string // by slot, the words of the rows of this listing
	errors     responseFormat   // what an error in a row says; it has no paths of its own
	op         *table.List
	zone       *time.Location
	statuses   map[string][]string
	vocabulary *vocabulary
}

// column is a field of sms.Transaction, whose tag names a concept of sms.list.record.
type column struct {
	concept string
	isID    bool     // the concept is the ID of the message
	name    string   // of the field
	index   int      // of the field
	paths   []string // of its values, in the order of preference
	slots   []int    // of these paths
}

func compileRowFormat(t *table.Table, op *table.List, known *vocabulary, cursor []string, zone *time.Location) *rowFormat {
	byConcept := maps.Clone(op.Record)
	byConcept[table.LastRow] = cursor
	f := &rowFormat{
		paths:      compilePaths(byConcept),
		only:       map[int][]string{},
		op:         op,
		zone:       zone,
		statuses:   t.WebhookDelivery.Statuses,
		vocabulary: known,
	}
	f.cursor = f.paths.slots[table.LastRow]
	for field := range reflect.TypeFor[sms.Transaction]().Fields() {
		if concept := field.Tag.Get("concept"); concept != "" {
			f.columns = append(f.columns, column{
				concept: concept,
				isID:    concept == "id",
				name:    field.Name,
				index:   field.Index[0],
				paths:   op.Record[concept],
				slots:   f.paths.slots[concept],
			})
		}
	}
	f.addErrors(&t.Errors, byConcept)
	for path, words := range op.Only {
		f.only[f.paths.Add(path)[0]] = words
	}
	return f
}

// addErrors adds the places of error codes that no column reads.
func (f *rowFormat) addErrors(errors *table.Errors, byConcept map[string][]string) {
	f.errors.errors = errors
	f.errors.vocabulary = f.vocabulary
	f.errors.nameKinds = kindsOfNames(nil, errors)
	isRead := map[string]bool{"": true}
	for _, list := range byConcept {
		addAll(isRead, list)
	}
	for _, path := range errors.Code {
		if isRead[path] {
			continue
		}
		object := cmp.Or(parentOf(path), path)
		if isRead[object] {
			object = path
		}
		f.errors.codes = append(f.errors.codes, codePlace{slot: f.paths.Add(path)[0], object: f.paths.Add(object)[0]})
	}
}
