package main

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"
)

// processes is what River's tables tell about the processes of an outbox. One of them leads: it renews its lease every few seconds, and its lease
// is deleted when it stops. A killed process leaves its lease and the jobs of its messages.
type processes struct {
	// Running reports whether a process leads, or has just begun an attempt.
	Running bool `json:"running"`
	// LastSeen is when a process renewed its lease or began an attempt last. It is zero if there is no trace of one.
	LastSeen time.Time `json:"lastSeen,omitzero"`
	// Held is how many messages workers have, of processes that run or were killed.
	Held int `json:"held"`
	// HeldSince is when the first of their attempts began, and HeldUntil when another process takes the last from a process that was killed, if
	// SendTimeout is the default.
	HeldSince time.Time `json:"heldSince,omitzero"`
	HeldUntil time.Time `json:"heldUntil,omitzero"`
}

// The times of River's leader.
const (
	// leaseLength is how long a lease of the leader lasts.
	leaseLength = 15 * time.Second
	// takeover is how long another process may take to lead after a lease has ended. Each tries every 5 to 6 seconds.
	takeover = 10 * time.Second
)

// The times of an attempt. The command does not know the SendTimeout of the program, and uses the default of Options.SendTimeout.
const (
	sendTimeout = 30 * time.Second
	// attemptLength is how long an attempt takes at most.
	attemptLength = sendTimeout + 10*time.Second
	// rescueDelay is how long after SendTimeout another process takes the message of one that was killed at the latest: River lets 15 seconds
	// pass, and then looks for such messages every 30 seconds.
	rescueDelay = 15*time.Second + 30*time.Second
	// rescueLength is how long after the beginning of an attempt another process takes its message at the latest.
	rescueLength = sendTimeout + rescueDelay
)

// traces is a row of the statements below: times in seconds since 1970, or NULL.
type traces struct {
	now         float64
	leaseEnds   sql.NullFloat64
	lastAttempt sql.NullFloat64 // of any job
	held        int
	firstHeld   sql.NullFloat64 // the first attempt whose message a worker has
	lastHeld    sql.NullFloat64
}

const (
	tracesOnPostgres = `
		SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS FLOAT8),
			(SELECT CAST(EXTRACT(EPOCH FROM expires_at) AS FLOAT8) FROM LEADERS),
			(SELECT CAST(EXTRACT(EPOCH FROM MAX(attempted_at)) AS FLOAT8) FROM JOBS),
			COUNT(*), CAST(EXTRACT(EPOCH FROM MIN(attempted_at)) AS FLOAT8), CAST(EXTRACT(EPOCH FROM MAX(attempted_at)) AS FLOAT8)
		FROM JOBS WHERE kind = 'messaging' AND state = 'running'`
	tracesOnSQLite = `
		SELECT unixepoch('subsec'),
			(SELECT unixepoch(expires_at, 'subsec') FROM LEADERS),
			(SELECT unixepoch(MAX(attempted_at), 'subsec') FROM JOBS),
			COUNT(*), unixepoch(MIN(attempted_at), 'subsec'), unixepoch(MAX(attempted_at), 'subsec')
		FROM JOBS WHERE kind = 'messaging' AND state = 'running'`
)

// readProcesses returns what the tables tell about the processes. It reads all jobs.
func readProcesses(ctx context.Context, db database) (processes, error) {
	statement := tracesOnSQLite
	if db.usesPostgres() {
		statement = tracesOnPostgres
	}
	rows, err := db.query(ctx, statement)
	if err != nil {
		return processes{}, err
	}
	defer func() { _ = rows.Close() }()
	var t traces
	for rows.Next() { // once
		if err := rows.Scan(&t.now, &t.leaseEnds, &t.lastAttempt, &t.held, &t.firstHeld, &t.lastHeld); err != nil {
			return processes{}, err
		}
	}
	return t.report(), rows.Err()
}

// report returns what the traces tell.
func (t traces) report() processes {
	now := timeOfSeconds(t.now)
	p := processes{Held: t.held}
	if t.leaseEnds.Valid {
		leaseEnds := timeOfSeconds(t.leaseEnds.Float64)
		p.Running = now.Before(leaseEnds.Add(takeover))
		p.LastSeen = leaseEnds.Add(-leaseLength)
	}
	if t.lastAttempt.Valid {
		lastAttempt := timeOfSeconds(t.lastAttempt.Float64)
		isRecent := now.Before(lastAttempt.Add(takeover))
		p.Running = p.Running || isRecent
		if lastAttempt.After(p.LastSeen) {
			p.LastSeen = lastAttempt
		}
	}
	if t.held > 0 {
		p.HeldSince = timeOfSeconds(t.firstHeld.Float64)
		p.HeldUntil = timeOfSeconds(t.lastHeld.Float64).Add(rescueLength)
	}
	return p
}

// timeOfSeconds returns the time some seconds after the beginning of 1970, to the millisecond.
func timeOfSeconds(seconds float64) time.Time {
	return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()
}

// text says that no process runs, and which messages a process that was killed may hold. It is empty if there is nothing to say.
func (p processes) text(now time.Time) string {
	text := ""
	switch {
	case p.Running:
	case p.LastSeen.IsZero():
		text = "no process is running, and none has left a trace; start a program that calls Outbox.Start\n"
	default:
		text = fmt.Sprintf("no process is running; the last was seen at %s; start a program that calls Outbox.Start\n", formatTime(p.LastSeen))
	}
	mayBeAbandoned := !p.Running || now.After(p.HeldSince.Add(attemptLength))
	if p.Held > 0 && mayBeAbandoned {
		text += fmt.Sprintf("messages with workers: %d, the first since %s; another process takes those of a killed one by %s, "+
			"or %.0f seconds after it starts; later if SendTimeout is longer than the default\n",
			p.Held, formatTime(p.HeldSince), formatTime(p.HeldUntil), rescueDelay.Seconds())
	}
	return text
}
