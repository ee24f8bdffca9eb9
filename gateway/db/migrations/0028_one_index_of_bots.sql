-- oldest version: 0.3.0
-- without a transaction
-- Two indexes began with the bot. Where both served, this one was taken, and all entries of a bot were read to find the new ones.
drop index concurrently if exists custody_of_bot;
