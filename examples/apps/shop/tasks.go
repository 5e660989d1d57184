package main

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// This file is the same in bot, campaign, otp and shop. Copy the whole of it.

// task is what a process does at an interval.
type task struct {
	name     string
	interval time.Duration
	do       func(ctx context.Context) error
}

// startTasks repeats tasks until the context ends or the function that it returns is called. That function waits for the tasks, because they use
// the database, which the caller then closes.
func startTasks(ctx context.Context, tasks ...task) (stop func(context.Context) error) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	for _, t := range tasks {
		group.Go(func() { t.repeat(ctx) })
	}
	return func(context.Context) error {
		cancel()
		group.Wait()
		return nil
	}
}

// repeat does the task until the context ends.
func (t task) repeat(ctx context.Context) {
	logger := slog.Default()
	ticker := time.NewTicker(t.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := t.do(ctx); err != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "a task failed and will be done again", "task", t.name, "error", err)
		}
	}
}
