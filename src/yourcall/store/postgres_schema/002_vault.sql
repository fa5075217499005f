-- Sealed values, each under a data key of its own, which is wrapped by the key-encryption key `wrapped_by`. `kept` is 0
-- for a draft: it counts for nothing until an append keeps it. A value of all the owner's conversations names none.
CREATE TABLE sealed (
    id text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    conversation bigint REFERENCES conversation (key) ON DELETE CASCADE,
    kept integer NOT NULL,
    made_at float8 NOT NULL,
    claimed_until float8,
    wrapped_by text NOT NULL,
    wrapped bytea NOT NULL,
    value bytea NOT NULL
);
CREATE UNIQUE INDEX sealed_slot ON sealed (owner, name, coalesce(conversation, 0)) WHERE kept = 1;
CREATE INDEX sealed_drafts ON sealed (made_at) WHERE kept = 0;
CREATE INDEX sealed_conversation ON sealed (conversation) WHERE conversation IS NOT NULL;
CREATE INDEX sealed_wrapped_by ON sealed (wrapped_by, id);
