/** The time, as an argument: nothing of the domain reads the machine's clock by itself. */
export type Clock = { now(): Date }

export const systemClock: Clock = { now: () => new Date() }
