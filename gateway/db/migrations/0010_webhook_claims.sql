-- Counts the claims of a delivery and the replays that void them: an attempt settles what its own claim still holds.
alter table webhook_delivery add column claim bigint not null default 0;
