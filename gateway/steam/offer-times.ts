/** Steam's own times for an offer. Pure. */
import { DAY_MS } from '../kit/duration.ts'

/** Steam ends every offer after this long. */
export const OFFER_LIFE_MS = 14 * DAY_MS

/** Nobody can still accept an offer that was sent this long ago. */
export const OFFER_OVER_MS = OFFER_LIFE_MS + DAY_MS

/** Steam holds the items of an accepted offer for at most this long. */
export const LONGEST_HOLD_MS = 15 * DAY_MS
