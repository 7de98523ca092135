-- What `gieok check` reads and repairs: index columns beside the content that they are made of, chains, and counts.

-- name: lock_whole_owner(owner)^
-- Waits for the writers of this owner, and holds new ones off until the repair is committed.
SELECT key_generation FROM owners WHERE owner = :owner FOR UPDATE;

-- name: list_turn_entries(owner, after, limit)
SELECT id, session_ref, keywords, terms FROM turn_memories WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;

-- name: list_memory_entries(owner, after, limit)
SELECT
    topic_token, terms,
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: list_decision_entries(owner, after, limit)
-- The active versions of the next chains, each with its head, which may be missing.
SELECT
    head.version, head.domain_token, head.strength, head.created_at, head.terms,
    chain.root_id, chain.active, one.id, one.form, one.content, one.created_at
FROM chain_heads AS chain
LEFT JOIN decision_heads AS head ON head.owner = :owner AND head.root_id = chain.root_id
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'decision' AND one.root_id = chain.root_id AND one.version = chain.active
WHERE chain.owner = :owner AND chain.kind = 'decision' AND chain.root_id > :after AND chain.active IS NOT NULL
ORDER BY chain.root_id
LIMIT :limit;

-- name: list_document_entries(owner, after, limit)
-- The newest versions of the next documents, each with its head, which may be missing, and the time of the first one.
SELECT
    head.version, head.name_token, head.namespace_token, head.created_at, head.updated_at, head.terms, head.expires_at,
    first.created_at,
    chain.root_id, chain.active, one.id, one.form, one.content, one.created_at
FROM chain_heads AS chain
LEFT JOIN document_heads AS head ON head.owner = :owner AND head.root_id = chain.root_id
LEFT JOIN chain_versions AS first
    ON first.owner = :owner AND first.kind = 'document' AND first.root_id = chain.root_id AND first.version = 1
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'document' AND one.root_id = chain.root_id AND one.version = chain.active
WHERE chain.owner = :owner AND chain.kind = 'document' AND chain.root_id > :after AND chain.active IS NOT NULL
ORDER BY chain.root_id
LIMIT :limit;

-- name: list_fact_entries(owner, after, limit)
-- The newest versions of the next chains, each with its head, which may be missing.
SELECT
    head.version, head.standing, head.importance, head.persona_token, chain.active,
    chain.root_id, chain.latest, one.id, one.form, one.content, one.created_at
FROM chain_heads AS chain
LEFT JOIN fact_heads AS head ON head.owner = :owner AND head.root_id = chain.root_id
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'fact' AND one.root_id = chain.root_id AND one.version = chain.latest
WHERE chain.owner = :owner AND chain.kind = 'fact' AND chain.root_id > :after
ORDER BY chain.root_id
LIMIT :limit;

-- name: list_fact_terms(owner, after, limit)
SELECT root_id, version, terms
FROM fact_heads
WHERE owner = :owner AND root_id > :after AND number IS NOT NULL
ORDER BY root_id
LIMIT :limit;

-- name: list_message_entries(owner, session_ref, seq, limit)
-- Indexed messages that may be found.
SELECT session_ref, seq, id, role, at, content, details, persona_id, terms
FROM messages
WHERE owner = :owner AND (session_ref, seq) > (:session_ref, :seq) AND number IS NOT NULL AND length(terms) > 0
ORDER BY session_ref, seq
LIMIT :limit;

-- name: list_entry_counts(owner)
-- How many entries each persona's index has, its revision, and the messages among them.
SELECT
    config.persona_id, config.entries, config.last_entry, config.revision,
    count(one.number), coalesce(max(one.number), 0), coalesce(max(one.changed), 0)
FROM persona_memory_configs AS config
LEFT JOIN messages AS one
    ON one.owner = :owner AND one.persona_id = config.persona_id AND one.number IS NOT NULL
WHERE config.owner = :owner
GROUP BY config.persona_id, config.entries, config.last_entry, config.revision
ORDER BY config.persona_id;

-- name: list_fact_counts(owner)
SELECT persona_token, count(number), coalesce(max(number), 0), coalesce(max(changed), 0)
FROM fact_heads
WHERE owner = :owner AND number IS NOT NULL
GROUP BY persona_token;

-- name: set_entry_count(owner, persona_id, entries, last_entry, revision)!
UPDATE persona_memory_configs
SET entries = :entries, last_entry = :last_entry, revision = :revision, removed = :revision
WHERE owner = :owner AND persona_id = :persona_id;

-- name: set_fact_head(owner, root_id, version, standing, importance, persona_token)!
UPDATE fact_heads
SET version = :version, standing = :standing, importance = :importance, persona_token = :persona_token
WHERE owner = :owner AND root_id = :root_id;

-- name: list_evidence_entries(owner, after, limit)
SELECT digest_token, id, card, created_at FROM evidence WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;

-- name: set_evidence_token(owner, id, digest_token)!
UPDATE evidence SET digest_token = :digest_token WHERE owner = :owner AND id = :id;

-- name: list_anchor_entries(owner, after, limit)
SELECT id, session_ref, content, created_at FROM anchors WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;

-- name: list_anchor_targets(owner, anchor_ids)
SELECT anchor_id, target_id FROM anchor_targets WHERE owner = :owner AND anchor_id IN list(:anchor_ids);

-- name: remove_anchor_targets(owner, anchor_id)!
DELETE FROM anchor_targets WHERE owner = :owner AND anchor_id = :anchor_id;

-- name: list_all_relations(owner)
SELECT id, source, type, target FROM decision_relations WHERE owner = :owner;

-- name: list_all_impacts(owner)
SELECT origin, affected, type, from_source FROM decision_impacts WHERE owner = :owner;

-- name: find_chains(owner, limit)
-- Chains whose versions are not 1, 2, 3 up to the newest one that the head names, and chains without an active version.
-- Only a fact can be retired.
SELECT kind, root_id
FROM (
    SELECT kind, root_id, 1 AS versions, version, 0 AS latest, 0 AS active FROM chain_versions WHERE owner = :owner
    UNION ALL
    SELECT kind, root_id, 0, 0, latest, coalesce(active, 0) FROM chain_heads WHERE owner = :owner
) AS chain
GROUP BY kind, root_id
HAVING sum(versions) <> max(version) OR max(version) <> max(latest) OR (max(active) = 0 AND kind <> 'fact')
ORDER BY kind, root_id
LIMIT :limit;

-- name: repair_chains(owner)!
-- Where no version is missing, the newest one becomes that of the head. A retired fact stays retired.
INSERT INTO chain_heads (owner, kind, root_id, latest, active)
SELECT owner, kind, root_id, max(version), max(version)
FROM chain_versions
WHERE owner = :owner
GROUP BY owner, kind, root_id
HAVING count(*) = max(version)
ON CONFLICT (owner, kind, root_id) DO UPDATE SET
    latest = excluded.latest,
    active = CASE WHEN chain_heads.active IS NULL AND chain_heads.kind = 'fact' THEN NULL ELSE excluded.latest END
WHERE chain_heads.latest <> excluded.latest OR (chain_heads.active IS NULL AND chain_heads.kind <> 'fact');

-- name: find_persona_heads(owner, limit)
SELECT head.persona_id
FROM persona_heads AS head
LEFT JOIN chain_heads AS chain ON chain.owner = :owner AND chain.kind = 'persona' AND chain.root_id = head.root_id
WHERE head.owner = :owner AND (chain.active IS NULL OR chain.active <> head.version)
ORDER BY head.persona_id
LIMIT :limit;

-- name: repair_persona_heads(owner)!
UPDATE persona_heads SET version = (
    SELECT chain.active
    FROM chain_heads AS chain
    WHERE chain.owner = :owner AND chain.kind = 'persona' AND chain.root_id = persona_heads.root_id
)
WHERE owner = :owner AND EXISTS (
    SELECT 1
    FROM chain_heads AS chain
    WHERE
        chain.owner = :owner AND chain.kind = 'persona' AND chain.root_id = persona_heads.root_id
        AND chain.active <> persona_heads.version
);

-- name: find_vectors(owner, limit)
-- Vectors of a memory that is gone, has another version, or is archived and the vector is not.
SELECT one.persona_id, one.number
FROM memory_vectors AS one
LEFT JOIN memories AS of_it ON of_it.owner = :owner AND of_it.id = one.memory_id
WHERE
    one.owner = :owner
    AND (
        of_it.id IS NULL OR of_it.persona_id <> one.persona_id OR of_it.number <> one.number
        OR of_it.version <> one.version OR (of_it.archived_at IS NULL) <> (one.archived = 0)
    )
ORDER BY one.persona_id, one.number
LIMIT :limit;

-- name: find_document_vectors(owner, limit)
-- Vectors of another version than the newest one.
SELECT one.root_id
FROM document_vectors AS one
INNER JOIN document_heads AS head ON head.owner = :owner AND head.root_id = one.root_id
WHERE one.owner = :owner AND head.version <> one.version
ORDER BY one.root_id
LIMIT :limit;

-- name: repair_document_vectors(owner)!
DELETE FROM document_vectors
WHERE owner = :owner AND NOT EXISTS (
    SELECT 1
    FROM document_heads AS head
    WHERE
        head.owner = :owner AND head.root_id = document_vectors.root_id
        AND head.version = document_vectors.version
);

-- name: repair_vectors(owner)!
-- A worker embeds what has no vector.
DELETE FROM memory_vectors
WHERE owner = :owner AND NOT EXISTS (
    SELECT 1
    FROM memories AS of_it
    WHERE
        of_it.owner = :owner AND of_it.id = memory_vectors.memory_id
        AND of_it.persona_id = memory_vectors.persona_id AND of_it.number = memory_vectors.number
        AND of_it.version = memory_vectors.version
        AND (of_it.archived_at IS NULL) = (memory_vectors.archived = 0)
);

-- name: remove_vector(owner, space, persona_id, number, version)!
DELETE FROM memory_vectors
WHERE owner = :owner AND space = :space AND persona_id = :persona_id AND number = :number AND version = :version;

-- name: repair_vector_progress(owner)!
UPDATE persona_memory_configs
SET
    vector_stamp = vector_stamp + 1,
    vectors_removed = vector_stamp + 1,
    embedded_to = 0,
    messages_embedded_to = 0
WHERE owner = :owner;

-- name: find_scopes(owner, limit)
SELECT actual.kind, actual.scope
FROM (
    SELECT kind, scope, sum(row_count) AS row_count, max(changed) AS changed
    FROM (
        SELECT 'turns' AS kind, session_ref AS scope, 1 AS row_count, changed FROM turn_memories WHERE owner = :owner
        UNION ALL
        SELECT 'decisions', CAST(domain_token AS TEXT), 1, changed FROM decision_heads WHERE owner = :owner
        UNION ALL
        SELECT 'documents', 'all', 1, changed FROM document_heads WHERE owner = :owner
        UNION ALL
        SELECT kind, scope, 0, 0 FROM search_scopes WHERE owner = :owner
    ) AS one
    GROUP BY kind, scope
) AS actual
LEFT JOIN search_scopes AS kept ON kept.owner = :owner AND kept.kind = actual.kind AND kept.scope = actual.scope
WHERE kept.revision IS NULL OR kept.row_count <> actual.row_count OR kept.revision < actual.changed
ORDER BY actual.kind, actual.scope
LIMIT :limit;

-- name: repair_scopes(owner)!
-- `removed` makes every process read the index again.
INSERT INTO search_scopes (owner, kind, scope, revision, removed, row_count)
SELECT :owner, kind, scope, max(changed) + 1, max(changed) + 1, sum(row_count)
FROM (
    SELECT 'turns' AS kind, session_ref AS scope, 1 AS row_count, changed FROM turn_memories WHERE owner = :owner
    UNION ALL
    SELECT 'decisions', CAST(domain_token AS TEXT), 1, changed FROM decision_heads WHERE owner = :owner
    UNION ALL
    SELECT 'documents', 'all', 1, changed FROM document_heads WHERE owner = :owner
    UNION ALL
    SELECT kind, scope, 0, revision FROM search_scopes WHERE owner = :owner
) AS one
WHERE kind <> ''
GROUP BY kind, scope
ON CONFLICT (owner, kind, scope) DO UPDATE
SET revision = excluded.revision, removed = excluded.removed, row_count = excluded.row_count
WHERE search_scopes.row_count <> excluded.row_count OR search_scopes.revision < excluded.revision - 1;

-- name: find_memory_counts(owner, limit)
SELECT config.persona_id
FROM persona_memory_configs AS config
LEFT JOIN (
    SELECT
        persona_id, sum(CASE WHEN archived_at IS NULL THEN 1 ELSE 0 END) AS active, count(*) AS row_count,
        max(number) AS last_number, max(changed) AS changed
    FROM memories
    WHERE owner = :owner
    GROUP BY persona_id
) AS actual ON actual.persona_id = config.persona_id
WHERE
    config.owner = :owner
    AND (
        config.active <> coalesce(actual.active, 0)
        OR config.active + config.archived <> coalesce(actual.row_count, 0)
        OR config.last_number < coalesce(actual.last_number, 0)
        OR config.revision < coalesce(actual.changed, 0)
    )
ORDER BY config.persona_id
LIMIT :limit;

-- name: repair_memory_counts(owner)!
UPDATE persona_memory_configs
SET
    active = (
        SELECT count(*) FROM memories
        WHERE memories.owner = :owner AND memories.persona_id = persona_memory_configs.persona_id
            AND memories.archived_at IS NULL
    ),
    archived = (
        SELECT count(*) FROM memories
        WHERE memories.owner = :owner AND memories.persona_id = persona_memory_configs.persona_id
            AND memories.archived_at IS NOT NULL
    ),
    last_number = (
        SELECT coalesce(max(number), 0) FROM (
            SELECT number FROM memories
            WHERE memories.owner = :owner AND memories.persona_id = persona_memory_configs.persona_id
            UNION ALL SELECT persona_memory_configs.last_number
        ) AS numbers
    ),
    revision = (
        SELECT 1 + max(changed) FROM (
            SELECT changed FROM memories
            WHERE memories.owner = :owner AND memories.persona_id = persona_memory_configs.persona_id
            UNION ALL SELECT persona_memory_configs.revision
        ) AS revisions
    ),
    removed = (
        SELECT 1 + max(changed) FROM (
            SELECT changed FROM memories
            WHERE memories.owner = :owner AND memories.persona_id = persona_memory_configs.persona_id
            UNION ALL SELECT persona_memory_configs.revision
        ) AS revisions
    )
WHERE owner = :owner;

-- name: find_message_counts(owner, limit)
-- Withdrawn messages are not compared where retention has deleted messages: they may be among those.
SELECT session.session_ref
FROM sessions AS session
LEFT JOIN (
    SELECT session_ref, count(*) AS row_count, max(seq) AS last, count(withdrawn_at) AS withdrawn
    FROM messages
    WHERE owner = :owner
    GROUP BY session_ref
) AS actual ON actual.session_ref = session.session_ref
WHERE
    session.owner = :owner
    AND (
        session.message_count <> session.removed_count + coalesce(actual.row_count, 0)
        OR session.message_count <> coalesce(actual.last, session.removed_count)
        OR session.removed_count = 0 AND session.withdrawn_count <> coalesce(actual.withdrawn, 0)
    )
ORDER BY session.session_ref
LIMIT :limit;

-- name: repair_message_counts(owner)!
-- Not where a message is missing: it cannot be rebuilt.
UPDATE sessions
SET
    log_tag = NULL,
    message_count = actual.row_count,
    withdrawn_count = CASE WHEN sessions.removed_count = 0 THEN actual.withdrawn ELSE withdrawn_count END,
    claimed_count = CASE WHEN claimed_count > actual.row_count THEN actual.row_count ELSE claimed_count END,
    summarized_count = CASE WHEN summarized_count > actual.row_count THEN actual.row_count ELSE summarized_count END,
    unremembered_count = CASE WHEN unremembered_count > actual.row_count THEN actual.row_count ELSE unremembered_count END
FROM (
    SELECT
        session.session_ref, session.removed_count + count(one.seq) AS row_count,
        coalesce(max(one.seq), session.removed_count) AS last, count(one.withdrawn_at) AS withdrawn
    FROM sessions AS session
    LEFT JOIN messages AS one ON one.owner = :owner AND one.session_ref = session.session_ref
    WHERE session.owner = :owner
    GROUP BY session.session_ref, session.removed_count
) AS actual
WHERE
    sessions.owner = :owner AND sessions.session_ref = actual.session_ref AND actual.row_count = actual.last
    AND (
        sessions.message_count <> actual.row_count
        OR sessions.removed_count = 0 AND sessions.withdrawn_count <> actual.withdrawn
    );
