-- Version 2: so that matches and faults are found by bot and by kind without going through all of
-- them (tournaments/search.py). Nothing here is a fact of its own.

-- Who sits in which match, partners once; kept by the trigger.
CREATE TABLE seats (
    entrant INTEGER NOT NULL REFERENCES entrants,
    job INTEGER NOT NULL REFERENCES jobs,
    PRIMARY KEY (entrant, job)
) WITHOUT ROWID;
CREATE TRIGGER jobs_fill_seats AFTER INSERT ON jobs BEGIN
    INSERT OR IGNORE INTO seats SELECT value, NEW.job FROM json_each(NEW.entrants);
END;
INSERT OR IGNORE INTO seats SELECT value, job FROM jobs, json_each(jobs.entrants);

CREATE INDEX faults_by_kind ON faults (kind);
