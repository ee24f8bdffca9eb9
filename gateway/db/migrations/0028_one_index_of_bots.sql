-- oldest version: 0.3.0
-- without a transaction
-- Two indexes of custody_entry began with the bot. To find the new entries of a bot, PostgreSQL chose the one dropped
-- here, and so read all entries of the bot. The other one, custody_of_bot_since, stays.
drop index concurrently if exists custody_of_bot;
