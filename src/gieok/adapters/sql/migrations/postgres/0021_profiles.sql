-- What every persona may know of a user: name, timezone and language, in one sealed document.

CREATE TABLE profiles (
    owner   text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES owners (owner),
    form    smallint NOT NULL CHECK (form >= 0),
    version bigint NOT NULL CHECK (version >= 1),
    content bytea NOT NULL CHECK (octet_length(content) > 0)
);

ALTER TABLE profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE profiles FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON profiles
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
