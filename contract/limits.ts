/** Limits for code that does not load the schemas. */

/** The most webhook endpoints of a store. */
export const MOST_ENDPOINTS = 10

/** The most names of unusable items that an inventory lists for one reason. */
export const MOST_UNAVAILABLE_NAMES = 20

/** From this share of its risk limit on, a store counts as near the limit. */
export const NEAR_LIMIT = 0.9
