/** Limits that several parts share. They are not in the schemas' files, so using a limit does not load the schemas. */

/** The most webhook endpoints of a store. */
export const MOST_ENDPOINTS = 10

/** The most names of unusable items that an inventory lists under each reason. */
export const MOST_UNAVAILABLE_NAMES = 20

/** The most events in a replayed range. Its sequences may span more: each restore skips millions of sequences. */
export const MOST_REPLAYED = 10_000

/** The largest sequence of an event that JSON and JavaScript hold exactly. */
export const MOST_SEQUENCE = Number.MAX_SAFE_INTEGER

/** How long webhooks can be signed with an endpoint's old secret too: a week, because the old one may have leaked. */
export const MOST_SECRET_OVERLAP_HOURS = 7 * 24
/** How long a replaced API key can keep working: over a year. */
export const MOST_KEY_OVERLAP_HOURS = 9_999

/** The longest period of one report to a store: a month in the store's time zone, and an hour if summer time ends. */
export const LONGEST_REPORT = { days: 31, hours: 1 } as const
export const LONGEST_REPORT_TEXT = `${LONGEST_REPORT.days} days and an hour`

/** The most items that an operator's rule for sending items away can leave with a bot. The database refuses more. */
export const MOST_KEPT_ITEMS = 100_000

/** A store counts as near its risk limit once this share of the limit is used. */
export const NEAR_LIMIT = 0.9
