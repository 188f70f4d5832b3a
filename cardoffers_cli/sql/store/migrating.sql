-- name: texts_before
-- The secrets of a store in which they still were, before its migration takes them out. Grain: one
-- row per signing secret.
select secret
from webhook_secrets
order by secret_no;
