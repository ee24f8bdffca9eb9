-- oldest version: 0.3.0
-- Kinds of problems that need an operator, and the messages about them to the operator's webhook. A row is deleted once
-- there is no problem of its kind.
create table alert (
  kind text primary key,
  -- How many problems of this kind there are now.
  count integer not null check (count > 0),
  since timestamptz not null,
  -- The current message. Each rise of the count causes a new message.
  message_id uuid not null,
  attempts integer not null default 0,
  -- When the message is sent next. Null: it was delivered, or became needless when the count fell.
  due_at timestamptz
);
