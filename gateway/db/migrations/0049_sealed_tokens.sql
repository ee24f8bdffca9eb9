-- oldest version: 0.3.0
-- without a transaction
-- For the count of sealed values, and for sealing them again with another master key. Without these indexes both read
-- all deposits and trades, although the tokens of nearly all of them were erased.
create index concurrently if not exists deposit_sealed on deposit (id) where user_token_sealed is not null;

create index concurrently if not exists trade_sealed on trade (id) where partner_token_sealed is not null;
