-- oldest version: 0.3.0
-- without a transaction
-- The history of a bot asks for the items that came back within thirty days: without this it reads all that ever came back.
create index concurrently if not exists sent_back_seen on sent_back_item (seen_at);
