/** Files that run at a time, each on a till of its own. */
export const E2E_WORKERS = 3
