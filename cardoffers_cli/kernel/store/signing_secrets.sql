-- name: named
-- The secrets that the store names, by which their texts are found beside it. Grain: one row per
-- signing secret.
select secret_sha256
from webhook_secrets
order by secret_no;

-- name: owners
-- The institutions of which a secret is named and its text not $at_hand. Grain: one row per
-- institution.
select distinct institutions.slug as institution
from webhook_secrets
inner join institutions on institutions.institution_id = webhook_secrets.institution_id
where not list_contains(cast($at_hand as varchar[]), webhook_secrets.secret_sha256)
order by institutions.slug;
