-- What the operator does with bots, and what is known of their tokens.

alter table bot drop constraint bot_state_check;
alter table bot add constraint bot_state_check check (state in ('active', 'paused', 'dead', 'removed'));
-- When the refresh token runs out, as it says of itself.
alter table bot add column token_expires_at timestamptz;
-- Once for an account Steam wants its notice about trade protection acknowledged, or offers get stuck.
alter table bot add column protection_acknowledged_at timestamptz;
