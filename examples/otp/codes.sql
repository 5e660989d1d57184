-- One-time codes, in PostgreSQL or SQLite. Times are in seconds since 1970.
CREATE TABLE code (
	challenge      TEXT PRIMARY KEY,               -- only the page has it
	request        TEXT,                           -- ID that the page made up, or NULL
	number         TEXT NOT NULL,
	sealed         TEXT NOT NULL,                  -- the digits, encrypted (AES-GCM, the challenge as additional data) with a key that is not
	                                               -- in the database: another process may have to send the same digits by SMS
	chat_reference TEXT NOT NULL UNIQUE,
	chat_message   TEXT,                           -- the service's ID of the chat message, or NULL
	chat_status    TEXT NOT NULL DEFAULT 'unknown',
	sms_reference  TEXT UNIQUE,                    -- NULL until the SMS begins, and never again: there is one SMS
	sms_message    TEXT,
	sms_status     TEXT NOT NULL DEFAULT 'unknown',
	sms_missing    BOOLEAN NOT NULL DEFAULT FALSE, -- the service did not list the SMS: the page may ask for another code
	unsent         BOOLEAN NOT NULL DEFAULT FALSE, -- it provably did not go out over any channel
	tries          INTEGER NOT NULL DEFAULT 0,
	claimed        BIGINT NOT NULL,                -- when a process last took the row
	expires        BIGINT NOT NULL
);
CREATE UNIQUE INDEX code_request ON code (number, request) WHERE NOT unsent;
CREATE INDEX code_number ON code (number, expires);
CREATE INDEX code_chat_message ON code (chat_message); -- for reports without a reference ID
CREATE INDEX code_sms_message ON code (sms_message);
