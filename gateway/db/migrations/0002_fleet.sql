-- For many bots on several gateways: refused tokens, trade histories read page by page, protection that Steam reports
-- late, and trades whose outcome an operator decides. Columns with a fixed list of values get their missing CHECK.

alter table api_key drop constraint api_key_scopes_check;
alter table api_key add constraint api_key_scopes_check check (cardinality(scopes) > 0
  and scopes <@ array['deposits:read', 'deposits:write', 'balance:read', 'webhooks:manage']);

-- ----------------------------------------------------------------------------------------------------------- bots

alter table bot drop constraint bot_state_check;
alter table bot add constraint bot_state_check check (state in ('active', 'paused', 'dead', 'retired', 'removed'));
-- When Steam first refused the bot's token. Null again once the bot logs in. A refusal an hour or more later
-- makes the bot dead.
alter table bot add column token_refused_at timestamptz;
-- No gateway logs the bot in before this time.
alter table bot add column login_after timestamptz;
-- bot_history replaces it.
alter table bot drop column history_at;

-- How far the search for reversals in a bot's trade history on Steam has come.
create table bot_history (
  bot_id bigint primary key references bot,
  -- When pages were last requested.
  turned_at timestamptz not null,
  -- When the current search began. Null: none is running.
  begun_at timestamptz,
  -- The oldest Steam trade that the search has read. Null: it has read none yet.
  after_trade_id text,
  after_begun_at timestamptz,
  -- When the last completed search began: every reversal before then is known.
  complete_at timestamptz
);

-- The processes that hold bots, each with its last heartbeat, by the clock of the database's machine, as for leases.
create table gateway_process (
  owner uuid primary key,
  max_bots integer not null check (max_bots > 0),
  beat_at timestamptz not null
);

-- --------------------------------------------------------------------------------------------------------- trades

alter table quote add constraint quote_game_check check (game in ('cs', 'dota', 'rust', 'tf'));
alter table quote add constraint quote_currency_check check (currency in ('USD', 'EUR', 'BRL'));

alter table trade add constraint trade_game_check check (game in ('cs', 'dota', 'rust', 'tf'));
alter table trade add constraint trade_currency_check check (currency in ('USD', 'EUR', 'BRL'));
alter table trade drop constraint trade_refusal_check;
alter table trade add constraint trade_refusal_check check (refusal in ('invalid_token', 'partner_cannot_trade',
  'partner_trade_ban', 'bot_cannot_trade', 'too_many_to_partner', 'too_many_in_all', 'too_many_offers', 'renamed',
  'items_gone', 'inventory_full', 'item_server_down', 'access_denied', 'session_dead', 'rate_limited', 'not_our_turn',
  'partner_hold', 'own_hold', 'out_of_reach', 'not_taken_up'));
-- When to ask Steam again whether a delivered trade was reversed, in addition to the check at its settlement.
alter table trade rename column last_look_at to look_at;
-- When Steam reported the protection of a trade that it had first shown as unprotected.
alter table trade add column protection_found_at timestamptz;
-- Decided by an operator, not by an answer of Steam. operator_act records the operator.
alter table trade add column credited_by_operator boolean not null default false;
alter table trade add column released_by_operator boolean not null default false;
alter table trade add column reversed_by_operator boolean not null default false;
-- A bot's trades that are open or still watched.
create index trade_watched on trade (bot_id) where due_at is not null;
-- Trades whose outcome Steam has not yet shown.
create index trade_unresolved on trade (send_started_at)
  where delivered_at is null and (ended_at is null or due_at is not null);
-- Delivered trades that are still watched for reversals.
create index trade_protected on trade (bot_id, send_started_at) where state = 'held' or look_at is not null;

-- ----------------------------------------------------------------------------------------------- ledger and events

alter table ledger_entry add constraint ledger_entry_currency_check check (currency in ('USD', 'EUR', 'BRL'));

alter table event add constraint event_type_check check (type in ('deposit.pending', 'deposit.succeeded',
  'deposit.amount_increased', 'deposit.payment_timeout', 'deposit.trade_timeout', 'deposit.trade_declined',
  'deposit.trade_countered', 'deposit.trade_has_invalid_items', 'deposit.funds_available', 'deposit.reversed'));

alter table webhook_endpoint drop constraint webhook_endpoint_event_types_check;
alter table webhook_endpoint add constraint webhook_endpoint_event_types_check
  check (cardinality(event_types) > 0 and event_types <@ array['deposit.pending', 'deposit.succeeded',
    'deposit.amount_increased', 'deposit.payment_timeout', 'deposit.trade_timeout', 'deposit.trade_declined',
    'deposit.trade_countered', 'deposit.trade_has_invalid_items', 'deposit.funds_available', 'deposit.reversed']);

-- -------------------------------------------------------------------------------------------------------- settings

-- The table was never used.
drop table setting;
