-- oldest version: 0.3.0
-- The count in the last message that the receiver accepted, or a lower one since; 0 if it accepted none. A count that
-- rises and soon falls back to it needs no message.
alter table alert add column told integer not null default 0;
