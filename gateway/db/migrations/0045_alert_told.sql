-- oldest version: 0.3.0
-- The count in the last message that the receiver accepted, or the lowest count since; 0 if it accepted none. A count
-- that rises above this and soon falls back needs no message.
alter table alert add column told integer not null default 0;
