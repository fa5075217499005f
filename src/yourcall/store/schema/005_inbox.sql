-- What a user's inbox is read from: whose question it is, since when, and who was asked in the owner's place.
ALTER TABLE interrupt ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE interrupt ADD COLUMN asked_at REAL NOT NULL DEFAULT 0;
ALTER TABLE interrupt ADD COLUMN addressee TEXT;
UPDATE interrupt SET
    owner = (SELECT owner FROM conversation WHERE key = interrupt.conversation),
    asked_at = (SELECT at FROM entry WHERE conversation = interrupt.conversation AND seq = interrupt.asked);
CREATE INDEX interrupt_own ON interrupt (owner, asked_at) WHERE ended IS NULL AND addressee IS NULL;
CREATE INDEX interrupt_put ON interrupt (addressee, asked_at) WHERE ended IS NULL AND addressee IS NOT NULL;
