-- What is known of users' files; their bytes are elsewhere. One that no append has kept is a draft. One that is
-- neither a draft nor in a conversation is doomed: its bytes are removed, and then its row.
CREATE TABLE file (
    id text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    conversation bigint REFERENCES conversation (key) ON DELETE SET NULL,
    draft boolean NOT NULL DEFAULT true,
    at float8 NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    size bigint NOT NULL,
    sha256 text NOT NULL
);
CREATE INDEX file_owner ON file (owner);
CREATE INDEX file_conversation ON file (conversation) WHERE conversation IS NOT NULL;
CREATE INDEX file_loose ON file (at) WHERE conversation IS NULL;
