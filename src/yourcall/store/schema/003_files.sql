-- What is known of users' files; their bytes are elsewhere. One that no append has kept is a draft. One that is
-- neither a draft nor in a conversation is doomed: its bytes are removed, and then its row.
CREATE TABLE file (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    conversation INTEGER REFERENCES conversation (key) ON DELETE SET NULL,
    draft INTEGER NOT NULL DEFAULT 1,
    at REAL NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    size INTEGER NOT NULL,
    sha256 TEXT NOT NULL
);
CREATE INDEX file_owner ON file (owner);
CREATE INDEX file_conversation ON file (conversation) WHERE conversation IS NOT NULL;
CREATE INDEX file_loose ON file (at) WHERE conversation IS NULL;
