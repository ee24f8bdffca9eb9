-- oldest version: 0.3.0
-- without a transaction
-- Reading a bot's trade history looks up the items that the bot got back within thirty days. Without this index it
-- reads all that the bot ever got back.
create index concurrently if not exists sent_back_seen on sent_back_item (seen_at);
