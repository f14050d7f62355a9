-- name: keep_content
-- A content under its hash; one that is known is not written again.
INSERT INTO variable_files (sha256, content, size, kept_at)
VALUES (%(sha256)s::text, %(content)s::bytea, length(%(content)s::bytea), bpm_now())
ON CONFLICT (sha256) DO NOTHING;

-- name: content_of_hash
-- The content, where it was kept here.
SELECT content FROM variable_files WHERE sha256 = %(sha256)s::text;
