package messagingriver

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river/riverdriver"
)

// database is where River's tables are. Its methods explain their errors, so that their callers can return them as they are.
type database struct {
	riverClient

	executor   riverdriver.Executor
	isPostgres bool
	schema     string // of River's tables on PostgreSQL, otherwise empty
	statements statements
}

func newDatabase(client riverClient, executor riverdriver.Executor, isPostgres bool, schema string) database {
	d := database{
		riverClient: client,
		executor:    executor,
		isPostgres:  isPostgres,
		schema:      schema,
		statements:  sqliteStatements(),
	}
	if isPostgres {
		d.statements = postgresStatements()
	}
	return d
}

// qualify adds the schema to the names of River's tables and types in a statement. They are all that begins with river_.
func (d *database) qualify(statement string) string {
	if d.schema == "" {
		return statement
	}
	return strings.ReplaceAll(statement, "river_", d.schema+".river_")
}

// statementTimeout bounds a statement of the outbox.
const statementTimeout = 10 * time.Second

// exec runs a statement on the pool.
func (d *database) exec(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	return d.execOn(ctx, d.executor, statement, args...)
}

// execOn runs a statement on the pool or in a transaction.
func (d *database) execOn(ctx context.Context, on riverdriver.Executor, statement string, args ...any) error {
	return explain(on.Exec(ctx, d.qualify(statement), args...))
}

// inTx runs a function in a transaction, even after the end of ctx, and commits it unless the function fails. It takes at most statementTimeout.
func (d *database) inTx(ctx context.Context, run func(ctx context.Context, tx riverdriver.ExecutorTx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout)
	defer cancel()
	return d.inLongTx(ctx, run)
}

// inLongTx runs a function in a transaction, which takes as long as ctx allows, and commits it unless the function fails.
func (d *database) inLongTx(ctx context.Context, run func(ctx context.Context, tx riverdriver.ExecutorTx) error) error {
	tx, err := d.executor.Begin(ctx)
	if err != nil {
		return explain(err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // nothing after the commit
	if err := run(ctx, tx); err != nil {
		return err
	}
	return explain(tx.Commit(ctx))
}

// createQueue creates the row of a queue unless it exists.
func (d *database) createQueue(ctx context.Context, tx riverdriver.ExecutorTx, name string) error {
	_, err := tx.QueueCreateOrSetUpdatedAt(ctx, &riverdriver.QueueCreateOrSetUpdatedAtParams{
		Name:     name,
		Metadata: []byte("{}"),
		Schema:   d.schema,
	})
	return explain(err)
}

// checkTx returns an error if the transaction of a caller is nil.
func checkTx[TTx any](tx TTx) error {
	var none TTx
	if any(tx) == any(none) {
		return errors.New("messagingriver: the transaction is nil")
	}
	return nil
}

// scan runs a statement that returns one row or none, on the pool or in a transaction, and reports whether there is a row.
func (d *database) scan(ctx context.Context, on riverdriver.Executor, targets []any, statement string, args ...any) (bool, error) {
	err := on.QueryRow(ctx, d.qualify(statement), args...).Scan(targets...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, explain(err)
}

// changeOne runs a statement that changes one row and returns 1, or changes none, and reports whether it changed one.
func (d *database) changeOne(ctx context.Context, on riverdriver.Executor, statement string, args ...any) (bool, error) {
	var one int
	return d.scan(ctx, on, []any{&one}, statement, args...)
}

// changeMany runs a statement that changes rows and returns how many. On PostgreSQL the statement counts them. SQLite counts them itself.
func (d *database) changeMany(ctx context.Context, tx riverdriver.ExecutorTx, statement string, args ...any) (int, error) {
	var changed int
	if d.isPostgres {
		_, err := d.scan(ctx, tx, []any{&changed}, statement, args...)
		return changed, err
	}
	if err := d.execOn(ctx, tx, statement, args...); err != nil {
		return 0, err
	}
	_, err := d.scan(ctx, tx, []any{&changed}, "SELECT changes()")
	return changed, err
}

// readJSON runs a statement that returns one JSON value or NULL.
func (d *database) readJSON(ctx context.Context, target any, statement string, args ...any) error {
	var encoded []byte
	if _, err := d.scan(ctx, d.executor, []any{&encoded}, statement, args...); err != nil {
		return err
	}
	if len(encoded) == 0 {
		return nil
	}
	if err := json.Unmarshal(encoded, target); err != nil {
		return fmt.Errorf("messagingriver: %w", err)
	}
	return nil
}

// explain adds the name of the package to an error of River or the database, or ErrNotMigrated if tables are missing. The function that calls
// River or the driver calls it once.
func explain(err error) error {
	if err == nil {
		return nil
	}
	if isMissingTable(err) {
		return fmt.Errorf("%w: %w", ErrNotMigrated, err)
	}
	return fmt.Errorf("messagingriver: %w", err)
}

// sqlStateError is an error of PostgreSQL by any driver.
type sqlStateError interface {
	error
	SQLState() string
}

// isMissingTable reports whether a statement failed because a table does not exist, or its schema.
func isMissingTable(err error) bool {
	const undefinedTable, undefinedSchema = "42P01", "3F000"
	if refusal, isPostgres := errors.AsType[sqlStateError](err); isPostgres {
		code := refusal.SQLState()
		return code == undefinedTable || code == undefinedSchema
	}
	return strings.Contains(err.Error(), "no such table") // each driver of SQLite has an error type of its own
}
