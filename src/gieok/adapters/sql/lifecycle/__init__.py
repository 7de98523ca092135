"""Operations on a whole owner or database: erasure, key rotation, backup, restore, export and import."""
