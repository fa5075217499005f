-- What a user's inbox is read from: whose question it is, since when, and who was asked in the owner's place.
ALTER TABLE interrupt ADD COLUMN owner text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE interrupt ADD COLUMN asked_at float8 NOT NULL DEFAULT 0;
ALTER TABLE interrupt ADD COLUMN addressee text COLLATE "C";
UPDATE interrupt i SET owner = c.owner, asked_at = e.at
FROM conversation c JOIN entry e ON e.conversation = c.key
WHERE c.key = i.conversation AND e.seq = i.asked;
CREATE INDEX interrupt_own ON interrupt (owner, asked_at) WHERE ended IS NULL AND addressee IS NULL;
CREATE INDEX interrupt_put ON interrupt (addressee, asked_at) WHERE ended IS NULL AND addressee IS NOT NULL;
