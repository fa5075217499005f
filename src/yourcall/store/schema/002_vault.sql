-- Sealed values, each under a data key of its own, which is wrapped by the key-encryption key `wrapped_by`. `kept` is 0
-- for a draft: it counts for nothing until an append keeps it. A value of all the owner's conversations names none.
CREATE TABLE sealed (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    conversation INTEGER REFERENCES conversation (key) ON DELETE CASCADE,
    kept INTEGER NOT NULL,
    made_at REAL NOT NULL,
    claimed_until REAL,
    wrapped_by TEXT NOT NULL,
    wrapped BLOB NOT NULL,
    value BLOB NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX sealed_slot ON sealed (owner, name, coalesce(conversation, 0)) WHERE kept = 1;
CREATE INDEX sealed_drafts ON sealed (made_at) WHERE kept = 0;
CREATE INDEX sealed_conversation ON sealed (conversation) WHERE conversation IS NOT NULL;
CREATE INDEX sealed_wrapped_by ON sealed (wrapped_by, id);
