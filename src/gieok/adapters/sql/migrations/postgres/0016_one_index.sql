-- One search index: each searchable row carries its terms in one packed column, and a process that searches reads these
-- columns into arrays. The tables of postings are not needed any more.
--
-- Packed terms: records of 12 bytes (token or version, 8 bytes; two counts, 2 bytes each; big-endian). The first record
-- is the version of the row and the lengths of both fields, the others are the tokens in ascending order.
-- `changed` is the revision of the scope (persona, session, domain) at which the row was written or changed last.
-- `removed` is the revision at which a row was deleted last.

-- The updates below are of all owners.
ALTER TABLE memories NO FORCE ROW LEVEL SECURITY;
ALTER TABLE turn_memories NO FORCE ROW LEVEL SECURITY;
ALTER TABLE turn_memory_index NO FORCE ROW LEVEL SECURITY;
ALTER TABLE decision_heads NO FORCE ROW LEVEL SECURITY;
ALTER TABLE decision_index NO FORCE ROW LEVEL SECURITY;

ALTER TABLE persona_memory_configs ADD COLUMN removed bigint NOT NULL DEFAULT 0 CHECK (removed >= 0);
ALTER TABLE memories ADD COLUMN changed bigint NOT NULL DEFAULT 0 CHECK (changed >= 0);
UPDATE memories
SET
    terms = int8send(version) || substring(int4send(least(words, 65535)) FROM 3) || '\x0000'::bytea || coalesce(
        (
            SELECT string_agg(substring(terms FROM place FOR 10) || '\x0000'::bytea, ''::bytea ORDER BY place)
            FROM generate_series(1, length(terms), 10) AS places (place)
        ),
        ''::bytea
    );
ALTER TABLE memories DROP COLUMN words;
ALTER TABLE persona_memory_configs DROP COLUMN words_active;
ALTER TABLE persona_memory_configs DROP COLUMN words_archived;
CREATE INDEX memories_by_change ON memories (owner, persona_id, changed);
DROP TABLE memory_postings;
DROP TABLE memory_terms;

-- Revisions of the scopes that have no row of their own: the sessions of turn memories, and the domains of decisions.
CREATE TABLE search_scopes (
    owner     text COLLATE "C" NOT NULL REFERENCES owners (owner),
    kind      text COLLATE "C" NOT NULL CHECK (kind IN ('turns', 'decisions')),
    scope     text COLLATE "C" NOT NULL,
    revision  bigint NOT NULL CHECK (revision >= 1),
    removed   bigint NOT NULL CHECK (removed >= 0),
    row_count bigint NOT NULL CHECK (row_count >= 0),
    PRIMARY KEY (owner, kind, scope)
);

-- The count of a turn memory's token is the number of its keyword, from 1.
CREATE INDEX turn_memory_index_by_id ON turn_memory_index (owner, id);
ALTER TABLE turn_memories ADD COLUMN terms bytea NOT NULL DEFAULT '\x';
ALTER TABLE turn_memories ADD COLUMN changed bigint NOT NULL DEFAULT 1 CHECK (changed >= 0);
UPDATE turn_memories
SET
    terms = int8send(1) || '\x00000000'::bytea || coalesce(
        (
            SELECT
                string_agg(
                    int8send(token) || substring(int4send(keyword + 1) FROM 3) || '\x0000'::bytea,
                    ''::bytea ORDER BY token, keyword
                )
            FROM turn_memory_index AS posting
            WHERE posting.owner = turn_memories.owner AND posting.id = turn_memories.id
        ),
        ''::bytea
    );
INSERT INTO search_scopes (owner, kind, scope, revision, removed, row_count)
SELECT owner, 'turns', session_ref, 1, 0, count(*) FROM turn_memories GROUP BY owner, session_ref;
CREATE INDEX turn_memories_by_change ON turn_memories (owner, session_ref, changed);
DROP TABLE turn_memory_index;

ALTER TABLE decision_heads ADD COLUMN terms bytea NOT NULL DEFAULT '\x';
ALTER TABLE decision_heads ADD COLUMN changed bigint NOT NULL DEFAULT 1 CHECK (changed >= 0);
UPDATE decision_heads
SET
    terms = int8send(version) || '\x00000000'::bytea || coalesce(
        (
            SELECT string_agg(int8send(token) || '\x00010000'::bytea, ''::bytea ORDER BY token)
            FROM decision_index AS posting
            WHERE posting.owner = decision_heads.owner AND posting.root_id = decision_heads.root_id
        ),
        ''::bytea
    );
INSERT INTO search_scopes (owner, kind, scope, revision, removed, row_count)
SELECT owner, 'decisions', domain_token::text, 1, 0, count(*) FROM decision_heads GROUP BY owner, domain_token;
CREATE INDEX decision_heads_by_change ON decision_heads (owner, domain_token, changed);
DROP TABLE decision_index;

ALTER TABLE memories FORCE ROW LEVEL SECURITY;
ALTER TABLE turn_memories FORCE ROW LEVEL SECURITY;
ALTER TABLE decision_heads FORCE ROW LEVEL SECURITY;
ALTER TABLE search_scopes ENABLE ROW LEVEL SECURITY;
ALTER TABLE search_scopes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON search_scopes
USING (owner = current_setting('gieok.owner', true)) WITH CHECK (owner = current_setting('gieok.owner', true));
