/** Limits that the code reads without the schemas. */

/** Webhook endpoints of a store. */
export const MOST_ENDPOINTS = 10
