/** Something that a gateway asks of its database. `readsAll`: once a day, and its time is a figure only. */
export type Call = { name: string; readsAll?: boolean; run(): Promise<unknown> }
