-- oldest version: 0.3.0
-- The vault takes up a wish only while the wish is open.

-- Returns whether the wish exists and is open, and keeps it open until the transaction ends. The vault's role may read
-- wishes but not lock them, so the function runs as the owner.
create function hold_open_wish(wish_id bigint) returns boolean
language sql volatile security definer set search_path = public, pg_temp as $$
  select exists (select from wish where id = wish_id and closed_at is null for update)
$$;
