-- A tournament's file, schema version 1 (design, section 7): facts only; ratings are derived.
-- Everything counts from 0; times are seconds since 1970; lists over seats are JSON arrays.

-- The one row about the whole: the key that every deal follows from.
CREATE TABLE tournament (
    one INTEGER PRIMARY KEY CHECK (one = 0),
    master_key BLOB NOT NULL CHECK (length(master_key) = 32),
    created REAL NOT NULL
);

-- A life of the referee on this file, and what was in force in it. `sandbox` is "off" where bots
-- could read what their user can; `clock` is how time was measured.
CREATE TABLE sessions (
    session INTEGER PRIMARY KEY,
    started REAL NOT NULL,
    ended REAL,
    pid INTEGER NOT NULL,
    software TEXT NOT NULL,
    machine TEXT NOT NULL,
    sandbox TEXT NOT NULL,
    clock TEXT NOT NULL
);

-- The bots, by the index that groups use; a bot that changed is another entrant. `version` is the
-- hash of its sources, `run` the command that starts it (JSON).
CREATE TABLE entrants (
    entrant INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    source TEXT NOT NULL,
    run TEXT NOT NULL,
    UNIQUE (name, version)
);

-- A stretch of the tournament with one configuration (canonical JSON), one field (the indices of
-- those who play) and one key, derived from the master key. `commitment` binds all three before
-- the first deal; the key may be shown once `published` is set.
CREATE TABLE epochs (
    epoch INTEGER PRIMARY KEY,
    config TEXT NOT NULL,
    field TEXT NOT NULL,
    commitment TEXT NOT NULL,
    started REAL NOT NULL,
    published REAL
);

-- Matches that were started at least once. `group` is as in the block's name, "0-3-5"; `entrants`
-- are indices by seat.
CREATE TABLE jobs (
    job INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL REFERENCES epochs,
    "group" TEXT NOT NULL,
    block INTEGER NOT NULL,
    seating INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    public_id TEXT NOT NULL UNIQUE,
    entrants TEXT NOT NULL,
    UNIQUE (epoch, block, "group", seating)
);

-- Each time a match was started, by processes of which wave. `outcome` is absent while it is open; "void" is the referee's or
-- the machine's failure, "abandoned" what was open when the referee ended. `why` says more.
CREATE TABLE attempts (
    attempt INTEGER PRIMARY KEY,
    job INTEGER NOT NULL REFERENCES jobs,
    number INTEGER NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions,
    wave INTEGER NOT NULL,
    started REAL NOT NULL,
    ended REAL,
    outcome TEXT CHECK (outcome IN ('done', 'void', 'abandoned')),
    why TEXT,
    UNIQUE (job, number),
    CHECK ((ended IS NULL) = (outcome IS NULL))
);
CREATE UNIQUE INDEX open_attempts ON attempts (job) WHERE outcome IS NULL;

-- Finished matches. Totals, places (1 is first) and forfeits are by seat; `play` is what
-- tournaments/playblob.py writes; `sha256` is over all of the result (kept.digest).
CREATE TABLE results (
    job INTEGER PRIMARY KEY REFERENCES jobs,
    attempt INTEGER NOT NULL UNIQUE REFERENCES attempts,
    deals INTEGER NOT NULL,
    totals TEXT NOT NULL,
    places TEXT NOT NULL,
    forfeits TEXT NOT NULL,
    play BLOB NOT NULL,
    sha256 BLOB NOT NULL
);

-- Decisions that the referee made for a bot, in the order of the match; `played` is what it
-- played, "2H" or a bid's cards.
CREATE TABLE faults (
    job INTEGER NOT NULL REFERENCES results,
    number INTEGER NOT NULL,
    deal INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    phase TEXT NOT NULL CHECK (phase IN ('bid', 'play')),
    trick INTEGER,
    kind TEXT NOT NULL,
    played TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (job, number)
) WITHOUT ROWID;

-- Words of bots to their authors, in the order of the match.
CREATE TABLE notes (
    job INTEGER NOT NULL REFERENCES results,
    number INTEGER NOT NULL,
    deal INTEGER NOT NULL,
    seat INTEGER NOT NULL,
    phase TEXT NOT NULL CHECK (phase IN ('bid', 'play')),
    trick INTEGER,
    text TEXT NOT NULL,
    PRIMARY KEY (job, number)
) WITHOUT ROWID;

-- Bot processes. A wave never shares its number with another, not even with its own continuation
-- in another session.
CREATE TABLE processes (
    process INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions,
    entrant INTEGER NOT NULL REFERENCES entrants,
    wave INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    member INTEGER NOT NULL,
    restart INTEGER NOT NULL,
    started REAL NOT NULL,
    UNIQUE (entrant, wave, generation, member, restart)
);

-- Which process was dealt in on which deals: written before it is sent the first view of them,
-- and no pair twice.
CREATE TABLE ledger (
    process INTEGER NOT NULL REFERENCES processes,
    deals TEXT NOT NULL,
    PRIMARY KEY (process, deals)
) WITHOUT ROWID;

-- Processes that ended when they should not have.
CREATE TABLE crashes (
    process INTEGER PRIMARY KEY REFERENCES processes,
    happened REAL NOT NULL,
    cause TEXT NOT NULL
);

-- Entrants that play no more in an epoch.
CREATE TABLE suspensions (
    entrant INTEGER NOT NULL REFERENCES entrants,
    epoch INTEGER NOT NULL REFERENCES epochs,
    happened REAL NOT NULL,
    cause TEXT NOT NULL,
    PRIMARY KEY (entrant, epoch)
) WITHOUT ROWID;
