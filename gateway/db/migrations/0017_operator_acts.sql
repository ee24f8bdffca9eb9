-- What operators did: who, when, what and why. Written in the transaction of the change itself.
create table operator_act (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  operator text not null check (length(operator) between 1 and 80),
  -- The act's name, such as "bot remove".
  act text not null check (length(act) between 1 and 80),
  -- Without secrets.
  arguments jsonb not null,
  reason text check (length(reason) between 1 and 500)
);
create index operator_act_by_act on operator_act (act, id desc);
create index operator_act_by_operator on operator_act (operator, id desc);
create trigger operator_act_append_only before update or delete or truncate on operator_act
  for each statement execute function refuse_change();
