/** The signals that stop PostgreSQL, from the mildest, and how many milliseconds the supervisor waits after each. */
export const STOP_STEPS = [
  ['SIGINT', 5_000],
  ['SIGQUIT', 1_000],
  ['SIGKILL', 1_000],
] as const

/** The longest time that the supervisor takes to stop PostgreSQL. */
export const SUPERVISOR_STOP_MS = STOP_STEPS.reduce((sum, [, waitMs]) => sum + waitMs, 0)

const SLACK_MS = 500
/** How long a gateway waits for its supervisor. Shorter than the phase of the shutdown in which it waits. */
export const STOP_MS = SUPERVISOR_STOP_MS + SLACK_MS
