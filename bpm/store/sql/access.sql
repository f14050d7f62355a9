-- name: bearer
-- Asked by every request of a program, so in words of its own; the token of a person is one more question.
SELECT id, name, role, user_id, last_used_at FROM api_tokens WHERE digest = %(digest)s AND revoked_at IS NULL;
