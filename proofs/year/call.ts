/**
 * A request of the gateway to its database. `readsAll`: it runs once a day and may read everything, so its time has no
 * limit.
 */
export type Call = { name: string; readsAll?: boolean; run(): Promise<unknown> }
