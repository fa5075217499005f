-- A conversation's row: where its log ends, where its last step began, who runs it. Derived, but for the lease.
CREATE TABLE conversation (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    head integer NOT NULL DEFAULT 0,
    tail integer NOT NULL DEFAULT 1,
    phase text NOT NULL DEFAULT 'done',
    expires_at float8,
    runner text,
    lease_until float8,
    updated_at float8 NOT NULL,
    UNIQUE (owner, id)
);
CREATE INDEX conversation_expires ON conversation (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX conversation_runs ON conversation (lease_until) WHERE phase = 'run';
CREATE INDEX conversation_listed ON conversation (owner, updated_at DESC, id DESC);

-- The log. Entries are never changed.
CREATE TABLE entry (
    conversation bigint NOT NULL REFERENCES conversation (key) ON DELETE CASCADE,
    seq integer NOT NULL,
    at float8 NOT NULL,
    kind text NOT NULL,
    ref text COLLATE "C",
    body text NOT NULL,
    PRIMARY KEY (conversation, seq)
);
CREATE UNIQUE INDEX entry_one_result ON entry (conversation, ref) WHERE kind = 'result';
CREATE UNIQUE INDEX entry_one_ending ON entry (conversation, ref) WHERE kind IN ('answered', 'closed');
CREATE UNIQUE INDEX entry_one_message ON entry (conversation, ref) WHERE kind = 'user' AND ref IS NOT NULL;

-- Where an interrupt is in its log; open while it has not ended.
CREATE TABLE interrupt (
    id text COLLATE "C" PRIMARY KEY,
    conversation bigint NOT NULL REFERENCES conversation (key) ON DELETE CASCADE,
    asked integer NOT NULL,
    ended integer
);
CREATE INDEX interrupt_conversation ON interrupt (conversation);
