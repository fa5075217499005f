-- A user's conversations, the latest first, without sorting all of them.
CREATE INDEX conversation_listed ON conversation (owner, updated_at DESC, id DESC);
