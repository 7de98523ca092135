-- What every persona may know of a user: name, timezone and language, in one sealed document.

CREATE TABLE profiles (
    owner   TEXT    NOT NULL PRIMARY KEY REFERENCES owners (owner),
    form    INTEGER NOT NULL CHECK (form BETWEEN 0 AND 32767),
    version INTEGER NOT NULL CHECK (version >= 1),
    content BLOB    NOT NULL CHECK (length(content) > 0)
) STRICT, WITHOUT ROWID;
