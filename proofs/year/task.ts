/**
 * Work of the gateway or the vault on the till's database. `readsAll`: it runs once a day and may read everything, so
 * its time has no limit.
 */
export type Task = { name: string; readsAll?: boolean; run(): Promise<unknown> }
