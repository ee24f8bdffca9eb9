-- Deliveries that no sender has had yet, and those that come again (retries, replays, what a killed sender had in
-- hand), are found apart: neither kind stands in the way of the other however many are due.
drop index webhook_due;
create index webhook_due_first on webhook_delivery (endpoint_id, due_at, id) where state = 'due' and claim = 0;
create index webhook_due_again on webhook_delivery (endpoint_id, attempts, due_at, id)
  where state = 'due' and claim > 0;

-- From when a publication or a replay could miss that its endpoint was disabled at the same moment.
update webhook_delivery set state = 'failed', due_at = null, last_result = 'the endpoint was disabled'
from webhook_endpoint endpoint
where endpoint.id = endpoint_id and endpoint.state = 'disabled' and webhook_delivery.state = 'due';
