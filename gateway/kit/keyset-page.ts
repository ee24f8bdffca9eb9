/**
 * Reads a page of a list that continues after the key of its last row. Reads one row more than the limit, which shows
 * whether another page follows. `next`: the key of the last row; null on the last page.
 */
export async function keysetPage<
  FILTER extends { limit: number },
  KEY extends string,
  ROW extends Record<KEY, unknown>,
>(
  filter: FILTER,
  read: (filter: FILTER) => Promise<readonly ROW[]>,
  key: KEY,
): Promise<{ rows: ROW[]; next: ROW[KEY] | null }> {
  const rowsAndNext = await read({ ...filter, limit: filter.limit + 1 })
  const rows = rowsAndNext.slice(0, filter.limit)
  const last = rows.at(-1)
  return { rows, next: rowsAndNext.length > filter.limit && last !== undefined ? last[key] : null }
}
