-- Tries at questions whose answers can be guessed: those of the last minutes that were refused, or are still looked at.
CREATE TABLE attempt (
    id INTEGER PRIMARY KEY,
    interrupt TEXT NOT NULL REFERENCES interrupt (id) ON DELETE CASCADE,
    at REAL NOT NULL
);
CREATE INDEX attempt_interrupt ON attempt (interrupt, at);
