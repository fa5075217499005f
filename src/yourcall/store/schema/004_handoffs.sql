-- Users on their way to a provider and back. A state is stored as its SHA-256, and used once.
CREATE TABLE handoff (
    state TEXT PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversation (key) ON DELETE CASCADE,
    interrupt TEXT NOT NULL,
    provider TEXT NOT NULL,
    browser TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    issuer TEXT,
    names_issuer INTEGER NOT NULL,
    expires_at REAL NOT NULL,
    used_at REAL
) WITHOUT ROWID;
CREATE INDEX handoff_conversation ON handoff (conversation);
CREATE INDEX handoff_expires ON handoff (expires_at);
