-- oldest version: 0.3.0
-- without a transaction
-- Reading a bot's trade history looks up the items that came back within thirty days. Without this index it
-- reads all that ever came back.
create index concurrently if not exists sent_back_seen on sent_back_item (seen_at);
