-- Users on their way to a provider and back. A state is stored as its SHA-256, and used once.
CREATE TABLE handoff (
    state text COLLATE "C" PRIMARY KEY,
    conversation bigint NOT NULL REFERENCES conversation (key) ON DELETE CASCADE,
    interrupt text COLLATE "C" NOT NULL,
    provider text NOT NULL,
    browser text NOT NULL,
    redirect_uri text NOT NULL,
    issuer text,
    names_issuer boolean NOT NULL,
    expires_at float8 NOT NULL,
    used_at float8
);
CREATE INDEX handoff_conversation ON handoff (conversation);
CREATE INDEX handoff_expires ON handoff (expires_at);
