-- Evidence and anchors: several at once.

-- name: list_evidence_cards(owner, ids)
SELECT id, card, created_at FROM evidence WHERE owner = :owner AND id IN (SELECT unhex(value) FROM json_each(:ids));

-- name: find_evidence(owner, tokens)
SELECT id, card, created_at FROM evidence WHERE owner = :owner AND digest_token IN (SELECT value FROM json_each(:tokens));

-- name: list_anchors_leading_to(owner, session_ref, target_ids)
SELECT id, session_ref, content, created_at
FROM anchors
WHERE
    owner = :owner AND session_ref = :session_ref
    AND id IN (SELECT anchor_id FROM anchor_targets WHERE owner = :owner AND target_id IN (SELECT unhex(value) FROM json_each(:target_ids)))
ORDER BY created_at DESC, id;
