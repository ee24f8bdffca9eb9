import { expect, test } from 'vitest'
import { keysetPage } from './keyset-page.ts'

const ROWS = [{ id: 4n }, { id: 3n }, { id: 2n }]
const read = async ({ limit }: { limit: number }) => ROWS.slice(0, limit)

test.each([
  [2, [{ id: 4n }, { id: 3n }], 3n],
  [3, ROWS, null],
  [50, ROWS, null],
])(
  'a page of at most %i rows says after which key the next page begins, if there is one',
  async (limit, rows, next) => {
    expect(await keysetPage({ limit }, read, 'id')).toEqual({ rows, next })
  },
)

test('an empty list has no next page', async () => {
  expect(await keysetPage({ limit: 2 }, async (): Promise<{ id: bigint }[]> => [], 'id')).toEqual({
    rows: [],
    next: null,
  })
})
