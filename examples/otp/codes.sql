-- One-time codes, in PostgreSQL or SQLite. Times are in seconds since 1970.
CREATE TABLE code (
	challenge TEXT PRIMARY KEY,               -- only the page has it
	request   TEXT,                           -- ID that the page made up, or NULL
	number    TEXT NOT NULL,
	hash      TEXT NOT NULL,                  -- HMAC of challenge and digits, with a key that is not in the database
	channel   TEXT NOT NULL,                  -- of the last message; only an SMS can be looked up after a crash
	reference TEXT NOT NULL UNIQUE,           -- of the last message
	message   TEXT,                           -- the service's ID of it, or NULL
	status    TEXT NOT NULL DEFAULT 'unknown',
	unsent    BOOLEAN NOT NULL DEFAULT FALSE, -- it provably did not go out over any channel
	tries     INTEGER NOT NULL DEFAULT 0,
	claimed   BIGINT NOT NULL,                -- when a process last took the row
	expires   BIGINT NOT NULL
);
CREATE UNIQUE INDEX code_request ON code (number, request) WHERE NOT unsent;
CREATE INDEX code_number ON code (number, expires);
