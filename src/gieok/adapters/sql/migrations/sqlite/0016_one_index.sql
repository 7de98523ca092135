-- One search index: each searchable row carries its terms in one packed column, and a process that searches reads these
-- columns into arrays. The tables of postings are not needed any more.
--
-- Packed terms: records of 12 bytes (token or version, 8 bytes; two counts, 2 bytes each; big-endian). The first record
-- is the version of the row and the lengths of both fields, the others are the tokens in ascending order.
-- `changed` is the revision of the scope (persona, session, domain) at which the row was written or changed last.
-- `removed` is the revision at which a row was deleted last.

ALTER TABLE persona_memory_configs ADD COLUMN removed INTEGER NOT NULL DEFAULT 0 CHECK (removed >= 0);
ALTER TABLE memories ADD COLUMN changed INTEGER NOT NULL DEFAULT 0 CHECK (changed >= 0);
UPDATE memories
SET
    terms = unhex(
        printf('%016x%04x0000', version, min(words, 65535)) || coalesce(
            (
                WITH RECURSIVE places (place) AS (
                    SELECT 1
                    WHERE length(terms) >= 10
                    UNION ALL
                    SELECT place + 10 FROM places WHERE place + 10 < length(terms)
                )

                SELECT group_concat(hex(substr(terms, place, 10)) || '0000', '' ORDER BY place) FROM places
            ),
            ''
        )
    );
ALTER TABLE memories DROP COLUMN words;
ALTER TABLE persona_memory_configs DROP COLUMN words_active;
ALTER TABLE persona_memory_configs DROP COLUMN words_archived;
CREATE INDEX memories_by_change ON memories (owner, persona_id, changed);
DROP TABLE memory_postings;
DROP TABLE memory_terms;

-- Revisions of the scopes that have no row of their own: the sessions of turn memories, and the domains of decisions.
CREATE TABLE search_scopes (
    owner     TEXT    NOT NULL REFERENCES owners (owner),
    kind      TEXT    NOT NULL CHECK (kind IN ('turns', 'decisions')),
    scope     TEXT    NOT NULL,
    revision  INTEGER NOT NULL CHECK (revision >= 1),
    removed   INTEGER NOT NULL CHECK (removed >= 0),
    row_count INTEGER NOT NULL CHECK (row_count >= 0),
    PRIMARY KEY (owner, kind, scope)
) STRICT, WITHOUT ROWID;

-- The count of a turn memory's token is the number of its keyword, from 1.
CREATE INDEX turn_memory_index_by_id ON turn_memory_index (owner, id);
ALTER TABLE turn_memories ADD COLUMN terms BLOB NOT NULL DEFAULT x'';
ALTER TABLE turn_memories ADD COLUMN changed INTEGER NOT NULL DEFAULT 1 CHECK (changed >= 0);
UPDATE turn_memories
SET
    terms = unhex(
        printf('%016x%04x0000', 1, 0) || coalesce(
            (
                SELECT group_concat(printf('%016x%04x0000', token, keyword + 1), '' ORDER BY token, keyword)
                FROM turn_memory_index AS posting
                WHERE posting.owner = turn_memories.owner AND posting.id = turn_memories.id
            ),
            ''
        )
    );
INSERT INTO search_scopes (owner, kind, scope, revision, removed, row_count)
SELECT owner, 'turns', session_ref, 1, 0, count(*) FROM turn_memories GROUP BY owner, session_ref;
CREATE INDEX turn_memories_by_change ON turn_memories (owner, session_ref, changed);
DROP TABLE turn_memory_index;

ALTER TABLE decision_heads ADD COLUMN terms BLOB NOT NULL DEFAULT x'';
ALTER TABLE decision_heads ADD COLUMN changed INTEGER NOT NULL DEFAULT 1 CHECK (changed >= 0);
UPDATE decision_heads
SET
    terms = unhex(
        printf('%016x%04x0000', version, 0) || coalesce(
            (
                SELECT group_concat(printf('%016x00010000', token), '' ORDER BY token)
                FROM decision_index AS posting
                WHERE posting.owner = decision_heads.owner AND posting.root_id = decision_heads.root_id
            ),
            ''
        )
    );
INSERT INTO search_scopes (owner, kind, scope, revision, removed, row_count)
SELECT owner, 'decisions', CAST(domain_token AS TEXT), 1, 0, count(*) FROM decision_heads GROUP BY owner, domain_token;
CREATE INDEX decision_heads_by_change ON decision_heads (owner, domain_token, changed);
DROP TABLE decision_index;
