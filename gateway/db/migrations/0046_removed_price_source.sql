-- oldest version: 0.3.0
-- When the settings stopped naming the source. Its prices and rates no longer count; null: they count.
alter table price_feed add column removed_at timestamptz;
