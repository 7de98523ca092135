-- Version chains, and decision memory on them: heads, relations, evidence, anchors.

-- Append-only: a version is never changed (a new data key seals the same content anew). Decisions and facts of
-- the canon are kinds of chain. `form` numbers the form of the content; an older one is upcast when it is read.
CREATE TABLE chain_versions (
    owner      text COLLATE "C" NOT NULL REFERENCES owners (owner),
    kind       text COLLATE "C" NOT NULL CHECK (length(kind) BETWEEN 1 AND 32),
    root_id    bytea NOT NULL CHECK (octet_length(root_id) = 16),
    version    integer NOT NULL CHECK (version >= 1),
    id         bytea NOT NULL CHECK (octet_length(id) = 16),
    form       smallint NOT NULL CHECK (form >= 0),
    content    bytea NOT NULL CHECK (octet_length(content) > 0),
    created_at bigint NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, kind, root_id, version)
);

-- One row a chain, and one place for the active version: two active versions cannot exist.
CREATE TABLE chain_heads (
    owner   text COLLATE "C" NOT NULL,
    kind    text COLLATE "C" NOT NULL,
    root_id bytea NOT NULL,
    latest  integer NOT NULL,
    active  integer CHECK (active = latest), -- NULL when the chain is retired
    PRIMARY KEY (owner, kind, root_id),
    FOREIGN KEY (owner, kind, root_id, latest) REFERENCES chain_versions (owner, kind, root_id, version)
);

-- By what active decisions are looked up. The domain is a token of the blind index, 0 for a global decision;
-- strength is 1 axis, 2 lock, 3 normal. History is not reached from here.
CREATE TABLE decision_heads (
    owner        text COLLATE "C" NOT NULL REFERENCES owners (owner),
    root_id      bytea NOT NULL CHECK (octet_length(root_id) = 16),
    version      integer NOT NULL CHECK (version >= 1),
    domain_token bigint NOT NULL,
    strength     smallint NOT NULL CHECK (strength BETWEEN 1 AND 3),
    created_at   bigint NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, root_id)
);

CREATE INDEX decision_heads_by_domain
ON decision_heads (owner, domain_token, strength, created_at DESC, root_id, version);

CREATE INDEX decision_heads_by_strength
ON decision_heads (owner, strength, created_at DESC, root_id, version, domain_token);

-- Postings of the blind index: the words of the statement of the active version, within its domain.
CREATE TABLE decision_index (
    owner   text COLLATE "C" NOT NULL CHECK (owner <> ''),
    token   bigint NOT NULL,
    root_id bytea NOT NULL CHECK (octet_length(root_id) = 16),
    PRIMARY KEY (owner, token, root_id)
);

CREATE INDEX decision_index_by_root ON decision_index (owner, root_id);

-- Relations as they were declared, between roots. The type is its number in RELATION_TYPES, from 1.
CREATE TABLE decision_relations (
    owner  text COLLATE "C" NOT NULL,
    id     bytea NOT NULL CHECK (octet_length(id) = 16),
    source bytea NOT NULL,
    type   smallint NOT NULL CHECK (type BETWEEN 1 AND 6),
    target bytea NOT NULL CHECK (target <> source),
    PRIMARY KEY (owner, id),
    UNIQUE (owner, source, type, target),
    FOREIGN KEY (owner, source) REFERENCES decision_heads (owner, root_id),
    FOREIGN KEY (owner, target) REFERENCES decision_heads (owner, root_id)
);

CREATE INDEX decision_relations_by_target ON decision_relations (owner, target, type, source);

-- The same relations in the direction of impact: a change of `origin` reaches `affected`. The whole row is the
-- key, so that a walk reads nothing else.
CREATE TABLE decision_impacts (
    owner       text COLLATE "C" NOT NULL CHECK (owner <> ''),
    origin      bytea NOT NULL CHECK (octet_length(origin) = 16),
    affected    bytea NOT NULL CHECK (octet_length(affected) = 16),
    type        smallint NOT NULL CHECK (type BETWEEN 1 AND 6),
    from_source smallint NOT NULL CHECK (from_source IN (0, 1)), -- 1 when `origin` is the relation's source
    PRIMARY KEY (owner, origin, affected, type, from_source)
);

-- A content is kept once: the token is a keyed hash of its SHA-256. The card is the title and the source.
CREATE TABLE evidence (
    owner        text COLLATE "C" NOT NULL REFERENCES owners (owner),
    id           bytea NOT NULL CHECK (octet_length(id) = 16),
    digest_token bigint NOT NULL,
    card         bytea NOT NULL CHECK (octet_length(card) > 0),
    content      bytea NOT NULL CHECK (octet_length(content) > 0),
    created_at   bigint NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, id),
    UNIQUE (owner, digest_token)
);

-- The content is the hint and the targets.
CREATE TABLE anchors (
    owner       text COLLATE "C" NOT NULL REFERENCES owners (owner),
    id          bytea NOT NULL CHECK (octet_length(id) = 16),
    session_ref text COLLATE "C" NOT NULL CHECK (length(session_ref) BETWEEN 1 AND 128),
    content     bytea NOT NULL CHECK (octet_length(content) > 0),
    created_at  bigint NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, id)
);

CREATE INDEX anchors_by_session ON anchors (owner, session_ref, created_at DESC, id);

CREATE INDEX anchors_by_time ON anchors (owner, created_at DESC, id);

-- The anchors that lead to a piece of evidence or a decision. The order of an anchor's targets is in its content.
CREATE TABLE anchor_targets (
    owner     text COLLATE "C" NOT NULL,
    target_id bytea NOT NULL CHECK (octet_length(target_id) = 16),
    anchor_id bytea NOT NULL,
    PRIMARY KEY (owner, target_id, anchor_id),
    FOREIGN KEY (owner, anchor_id) REFERENCES anchors (owner, id)
);

ALTER TABLE chain_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE chain_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON chain_versions
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE chain_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE chain_heads FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON chain_heads
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE decision_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_heads FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON decision_heads
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE decision_index ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_index FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON decision_index
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE decision_relations ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_relations FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON decision_relations
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE decision_impacts ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_impacts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON decision_impacts
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE evidence ENABLE ROW LEVEL SECURITY;
ALTER TABLE evidence FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON evidence
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE anchors ENABLE ROW LEVEL SECURITY;
ALTER TABLE anchors FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON anchors
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE anchor_targets ENABLE ROW LEVEL SECURITY;
ALTER TABLE anchor_targets FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON anchor_targets
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
