/** Limits for code that does not load the schemas. */

/** The most webhook endpoints of a store. */
export const MOST_ENDPOINTS = 10
