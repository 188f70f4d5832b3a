-- name: post
-- Writes one message to an institution's inbox. Its id is derived from institution, kind and
-- subject, so a message that is there already is not written again.
insert into inbox_messages (message_id, institution_id, kind, text, created_at)
with message as (
    select derived_id(
        cast($institution_id as varchar) || chr(31) || $kind || chr(31) || $subject
    ) as message_id
)
select message.message_id, $institution_id, $kind, $text, $created_at
from message
anti join inbox_messages on inbox_messages.message_id = message.message_id;

-- name: messages
-- The messages of an institution, the newest first. Grain: one row per message.
select message_id as id, kind, created_at, text, read_at
from inbox_messages
where institution_id = $institution_id
    and ($unread_only = false or read_at is null)
order by created_at desc, message_id;

-- name: read
-- Marks one message of an institution as read, or all of them; the first time counts.
update inbox_messages
set read_at = $read_at
where institution_id = $institution_id
    and read_at is null
    and ($message_id is null or message_id = $message_id);
