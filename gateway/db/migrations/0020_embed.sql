-- oldest version: 0.3.0
-- The store's origin whose pages may embed the deposit page in a frame. Null: none.
alter table deposit add column embed_origin text;
