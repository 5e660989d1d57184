package messagingriver

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// riverClient is River over either type of transaction. Its methods explain their errors.
type riverClient interface {
	newWorker(config *river.Config) (riverWorker, error)
	migrate(ctx context.Context, schema string, logger *slog.Logger) error
	insertMany(ctx context.Context, jobs []river.InsertManyParams) error
	insertTx(ctx context.Context, tx riverdriver.ExecutorTx, job river.InsertManyParams) error
	list(ctx context.Context, params *river.JobListParams) (*river.JobListResult, error)
	get(ctx context.Context, id int64) (*rivertype.JobRow, error)
	retry(ctx context.Context, tx riverdriver.ExecutorTx, id int64) error
	pause(ctx context.Context, tx riverdriver.ExecutorTx, queue string) error
	resume(ctx context.Context, tx riverdriver.ExecutorTx, queue string) error
}

// riverWorker is a client of River that works.
type riverWorker interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// riverOver is River over transactions of type TTx.
type riverOver[TTx any] struct {
	driver riverdriver.Driver[TTx]
	client *river.Client[TTx] // is never started
}

func (r *riverOver[TTx]) newWorker(config *river.Config) (riverWorker, error) {
	worker, err := river.NewClient(r.driver, config)
	if err != nil {
		return nil, explain(err)
	}
	return worker, nil
}

func (r *riverOver[TTx]) migrate(ctx context.Context, schema string, logger *slog.Logger) error {
	migrator, err := rivermigrate.New(r.driver, &rivermigrate.Config{Schema: schema, Logger: logger})
	if err != nil {
		return fmt.Errorf("messagingriver: %w", err)
	}
	if _, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("messagingriver: %w", err)
	}
	return nil
}

func (r *riverOver[TTx]) insertMany(ctx context.Context, jobs []river.InsertManyParams) error {
	_, err := r.client.InsertMany(ctx, jobs)
	return explain(err)
}

func (r *riverOver[TTx]) insertTx(ctx context.Context, tx riverdriver.ExecutorTx, job river.InsertManyParams) error {
	_, err := r.client.InsertTx(ctx, r.driver.UnwrapTx(tx), job.Args, job.InsertOpts)
	return explain(err)
}

func (r *riverOver[TTx]) list(ctx context.Context, params *river.JobListParams) (*river.JobListResult, error) {
	found, err := r.client.JobList(ctx, params)
	return found, explain(err)
}

func (r *riverOver[TTx]) get(ctx context.Context, id int64) (*rivertype.JobRow, error) {
	row, err := r.client.JobGet(ctx, id)
	return row, explain(err)
}

func (r *riverOver[TTx]) retry(ctx context.Context, tx riverdriver.ExecutorTx, id int64) error {
	_, err := r.client.JobRetryTx(ctx, r.driver.UnwrapTx(tx), id)
	return explain(err)
}

func (r *riverOver[TTx]) pause(ctx context.Context, tx riverdriver.ExecutorTx, queue string) error {
	return explain(r.client.QueuePauseTx(ctx, r.driver.UnwrapTx(tx), queue, nil))
}

func (r *riverOver[TTx]) resume(ctx context.Context, tx riverdriver.ExecutorTx, queue string) error {
	return explain(r.client.QueueResumeTx(ctx, r.driver.UnwrapTx(tx), queue, nil))
}
