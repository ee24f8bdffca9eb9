-- oldest version: 0.3.0
-- What needs a person, as the operator's webhook is told of it. A row goes once nothing of its kind needs anybody.
create table alert (
  kind text primary key,
  -- How many there are now.
  count integer not null check (count > 0),
  since timestamptz not null,
  -- The message of now: each rise of the count is one of its own.
  message_id uuid not null,
  attempts integer not null default 0,
  -- Null once it was taken, or given up.
  due_at timestamptz
);
