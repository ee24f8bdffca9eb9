-- The colour that a store gives the main things on its shoppers' page; null is the page's own.
alter table store add column accent text check (accent ~ '^#[0-9a-f]{6}$');
