-- The profile of an owner: one sealed document.

-- name: get_profile(owner)^
SELECT form, version, content FROM profiles WHERE owner = :owner;

-- name: save_profile(owner, form, version, content)!
INSERT INTO profiles (owner, form, version, content) VALUES (:owner, :form, :version, :content)
ON CONFLICT (owner) DO UPDATE SET form = excluded.form, version = excluded.version, content = excluded.content;

-- name: erase_profiles(owner)!
DELETE FROM profiles WHERE owner = :owner;

-- name: lock_profile(owner)^
SELECT form, version, content FROM profiles WHERE owner = :owner FOR NO KEY UPDATE;

-- name: replace_profile_seal(owner, form, version, content)!
-- 0 rows when it was saved since it was read: then it is sealed under the new key already.
UPDATE profiles SET content = :content WHERE owner = :owner AND form = :form AND version = :version;
