-- Version chains, and decision memory on them: heads, relations, evidence, anchors.

-- Append-only: a version is never changed (a new data key seals the same content anew). Decisions and facts of
-- the canon are kinds of chain. `form` numbers the form of the content; an older one is upcast when it is read.
CREATE TABLE chain_versions (
    owner      TEXT    NOT NULL REFERENCES owners (owner),
    kind       TEXT    NOT NULL CHECK (length(kind) BETWEEN 1 AND 32),
    root_id    BLOB    NOT NULL CHECK (length(root_id) = 16),
    version    INTEGER NOT NULL CHECK (version BETWEEN 1 AND 2147483647),
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    form       INTEGER NOT NULL CHECK (form BETWEEN 0 AND 32767),
    content    BLOB    NOT NULL CHECK (length(content) > 0),
    created_at INTEGER NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, kind, root_id, version)
) STRICT;

-- One row a chain, and one place for the active version: two active versions cannot exist.
CREATE TABLE chain_heads (
    owner   TEXT    NOT NULL,
    kind    TEXT    NOT NULL,
    root_id BLOB    NOT NULL,
    latest  INTEGER NOT NULL,
    active  INTEGER CHECK (active = latest), -- NULL when the chain is retired
    PRIMARY KEY (owner, kind, root_id),
    FOREIGN KEY (owner, kind, root_id, latest) REFERENCES chain_versions (owner, kind, root_id, version)
) STRICT, WITHOUT ROWID;

-- By what active decisions are looked up. The domain is a token of the blind index, 0 for a global decision;
-- strength is 1 axis, 2 lock, 3 normal. History is not reached from here.
CREATE TABLE decision_heads (
    owner        TEXT    NOT NULL REFERENCES owners (owner),
    root_id      BLOB    NOT NULL CHECK (length(root_id) = 16),
    version      INTEGER NOT NULL CHECK (version >= 1),
    domain_token INTEGER NOT NULL,
    strength     INTEGER NOT NULL CHECK (strength BETWEEN 1 AND 3),
    created_at   INTEGER NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, root_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX decision_heads_by_domain
ON decision_heads (owner, domain_token, strength, created_at DESC, root_id, version);

CREATE INDEX decision_heads_by_strength
ON decision_heads (owner, strength, created_at DESC, root_id, version, domain_token);

-- Postings of the blind index: the words of the statement of the active version, within its domain.
CREATE TABLE decision_index (
    owner   TEXT    NOT NULL CHECK (owner <> ''),
    token   INTEGER NOT NULL,
    root_id BLOB    NOT NULL CHECK (length(root_id) = 16),
    PRIMARY KEY (owner, token, root_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX decision_index_by_root ON decision_index (owner, root_id);

-- Relations as they were declared, between roots. The type is its number in RELATION_TYPES, from 1.
CREATE TABLE decision_relations (
    owner  TEXT    NOT NULL,
    id     BLOB    NOT NULL CHECK (length(id) = 16),
    source BLOB    NOT NULL,
    type   INTEGER NOT NULL CHECK (type BETWEEN 1 AND 6),
    target BLOB    NOT NULL CHECK (target <> source),
    PRIMARY KEY (owner, id),
    UNIQUE (owner, source, type, target),
    FOREIGN KEY (owner, source) REFERENCES decision_heads (owner, root_id),
    FOREIGN KEY (owner, target) REFERENCES decision_heads (owner, root_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX decision_relations_by_target ON decision_relations (owner, target, type, source);

-- The same relations in the direction of impact: a change of `origin` reaches `affected`. The whole row is the
-- key, so that a walk reads nothing else.
CREATE TABLE decision_impacts (
    owner       TEXT    NOT NULL CHECK (owner <> ''),
    origin      BLOB    NOT NULL CHECK (length(origin) = 16),
    affected    BLOB    NOT NULL CHECK (length(affected) = 16),
    type        INTEGER NOT NULL CHECK (type BETWEEN 1 AND 6),
    from_source INTEGER NOT NULL CHECK (from_source IN (0, 1)), -- 1 when `origin` is the relation's source
    PRIMARY KEY (owner, origin, affected, type, from_source)
) STRICT, WITHOUT ROWID;

-- A content is kept once: the token is a keyed hash of its SHA-256. The card is the title and the source.
CREATE TABLE evidence (
    owner        TEXT    NOT NULL REFERENCES owners (owner),
    id           BLOB    NOT NULL CHECK (length(id) = 16),
    digest_token INTEGER NOT NULL,
    card         BLOB    NOT NULL CHECK (length(card) > 0),
    content      BLOB    NOT NULL CHECK (length(content) > 0),
    created_at   INTEGER NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, id),
    UNIQUE (owner, digest_token)
) STRICT;

-- The content is the hint and the targets.
CREATE TABLE anchors (
    owner       TEXT    NOT NULL REFERENCES owners (owner),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    session_ref TEXT    NOT NULL CHECK (length(session_ref) BETWEEN 1 AND 128),
    content     BLOB    NOT NULL CHECK (length(content) > 0),
    created_at  INTEGER NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, id)
) STRICT;

CREATE INDEX anchors_by_session ON anchors (owner, session_ref, created_at DESC, id);

CREATE INDEX anchors_by_time ON anchors (owner, created_at DESC, id);

-- The anchors that lead to a piece of evidence or a decision. The order of an anchor's targets is in its content.
CREATE TABLE anchor_targets (
    owner     TEXT NOT NULL,
    target_id BLOB NOT NULL CHECK (length(target_id) = 16),
    anchor_id BLOB NOT NULL,
    PRIMARY KEY (owner, target_id, anchor_id),
    FOREIGN KEY (owner, anchor_id) REFERENCES anchors (owner, id)
) STRICT, WITHOUT ROWID;
