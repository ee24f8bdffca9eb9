/** Writes a count with its noun: `1 item`, `3 items`. `many` defaults to the noun with an s. */
export const counted = (count: number | bigint, one: string, many = `${one}s`): string =>
  `${count} ${Number(count) === 1 ? one : many}`
