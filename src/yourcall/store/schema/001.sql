-- A conversation's row: where its log ends, where its last step began, who runs it. Derived, but for the lease.
CREATE TABLE conversation (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    head INTEGER NOT NULL DEFAULT 0,
    tail INTEGER NOT NULL DEFAULT 1,
    phase TEXT NOT NULL DEFAULT 'done',
    expires_at REAL,
    runner TEXT,
    lease_until REAL,
    updated_at REAL NOT NULL,
    UNIQUE (owner, id)
);
CREATE INDEX conversation_expires ON conversation (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX conversation_runs ON conversation (lease_until) WHERE phase = 'run';

-- The log. Entries are never changed.
CREATE TABLE entry (
    conversation INTEGER NOT NULL REFERENCES conversation (key) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    ref TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (conversation, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX entry_one_result ON entry (conversation, ref) WHERE kind = 'result';
CREATE UNIQUE INDEX entry_one_ending ON entry (conversation, ref) WHERE kind IN ('answered', 'closed');
CREATE UNIQUE INDEX entry_one_message ON entry (conversation, ref) WHERE kind = 'user' AND ref IS NOT NULL;

-- Where an interrupt is in its log; open while it has not ended.
CREATE TABLE interrupt (
    id TEXT PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversation (key) ON DELETE CASCADE,
    asked INTEGER NOT NULL,
    ended INTEGER
) WITHOUT ROWID;
CREATE INDEX interrupt_conversation ON interrupt (conversation);
