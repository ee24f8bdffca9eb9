-- oldest version: 0.3.0
-- The origin of the store whose page may hold the deposit in a frame. Null: none may.
alter table deposit add column embed_origin text;
