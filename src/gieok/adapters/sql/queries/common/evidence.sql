-- Evidence, each content once, and the anchors that lead to it.

-- name: add_evidence(owner, id, digest_token, card, content, created_at)!
-- 0 rows when the content is there already.
INSERT INTO evidence (owner, id, digest_token, card, content, created_at)
VALUES (:owner, :id, :digest_token, :card, :content, :created_at)
ON CONFLICT (owner, digest_token) DO NOTHING;

-- name: get_evidence(owner, id)^
SELECT id, card, created_at, content FROM evidence WHERE owner = :owner AND id = :id;

-- name: list_evidence_seals(owner, after, limit)
SELECT id, card, content FROM evidence WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;

-- name: replace_evidence_seals(owner, id, card, content)!
UPDATE evidence SET card = :card, content = :content WHERE owner = :owner AND id = :id;

-- name: erase_evidence(owner)!
DELETE FROM evidence WHERE owner = :owner;

-- name: add_anchor(owner, id, session_ref, content, created_at)!
-- 0 rows when the id is there already.
INSERT INTO anchors (owner, id, session_ref, content, created_at)
VALUES (:owner, :id, :session_ref, :content, :created_at)
ON CONFLICT (owner, id) DO NOTHING;

-- name: add_anchor_targets(owner, target_id, anchor_id)*!
INSERT INTO anchor_targets (owner, target_id, anchor_id) VALUES (:owner, :target_id, :anchor_id);

-- name: get_anchor(owner, id)^
SELECT id, session_ref, content, created_at FROM anchors WHERE owner = :owner AND id = :id;

-- name: list_anchors(owner, limit)
SELECT id, session_ref, content, created_at
FROM anchors
WHERE owner = :owner
ORDER BY created_at DESC, id
LIMIT :limit;

-- name: list_anchors_of_session(owner, session_ref, limit)
SELECT id, session_ref, content, created_at
FROM anchors
WHERE owner = :owner AND session_ref = :session_ref
ORDER BY created_at DESC, id
LIMIT :limit;

-- name: list_anchor_seals(owner, after, limit)
SELECT id, session_ref, content FROM anchors WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;

-- name: replace_anchor_seal(owner, id, content)!
UPDATE anchors SET content = :content WHERE owner = :owner AND id = :id;

-- name: erase_anchor_targets(owner)!
DELETE FROM anchor_targets WHERE owner = :owner;

-- name: erase_anchors(owner)!
DELETE FROM anchors WHERE owner = :owner;

-- name: list_evidence_cards(owner, ids)
SELECT id, card, created_at FROM evidence WHERE owner = :owner AND id IN list(:ids);

-- name: find_evidence(owner, tokens)
SELECT id, card, created_at FROM evidence WHERE owner = :owner AND digest_token IN list(:tokens);

-- name: list_anchors_leading_to(owner, session_ref, target_ids)
SELECT id, session_ref, content, created_at
FROM anchors
WHERE
    owner = :owner AND session_ref = :session_ref
    AND id IN (SELECT anchor_id FROM anchor_targets WHERE owner = :owner AND target_id IN list(:target_ids))
ORDER BY created_at DESC, id;
