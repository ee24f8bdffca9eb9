-- oldest version: 0.3.0
-- without a transaction
-- Two indexes began with the bot. For a bot's new entries PostgreSQL chose this one, and so read all entries of the bot.
drop index concurrently if exists custody_of_bot;
