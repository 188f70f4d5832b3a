-- name: institution_profiles
-- The layout profile that an institution's own files are read by. Grain: one row per institution
-- that has one.
create table institution_profiles (
    institution_id uuid not null primary key,
    toml varchar not null,  -- as it was given, comments too
    digest varchar not null,  -- of what it says; imports keep it
    set_at timestamp not null
);
