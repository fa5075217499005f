-- Tries at questions whose answers can be guessed: those of the last minutes that were refused, or are still looked at.
CREATE TABLE attempt (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    interrupt text COLLATE "C" NOT NULL REFERENCES interrupt (id) ON DELETE CASCADE,
    at float8 NOT NULL
);
CREATE INDEX attempt_interrupt ON attempt (interrupt, at);
