import { describe, expect, it } from 'vitest'
import { cyclesOf, readSource } from './source-tree.ts'

const functionsOf = (text: string) => readSource('here/file.tsx', text).functions

describe('a function', () => {
  it('is measured even if its signature spans several lines', () => {
    const [found] = functionsOf(`
export async function pay(
  amount: number,
  { order }: { order: string },
): Promise<void> {
  await spend(amount)

  await report(order)
}
`)
    expect(found).toEqual({ name: 'pay', line: 2, lines: 8, parameters: 2, isCallback: false })
  })

  it.each([
    ['const pay = (a: number) => {\n  spend(a)\n}', 'pay', 3],
    ['const till = {\n  pay(a: number) {\n    spend(a)\n  },\n}', 'pay', 3],
    ['class Till {\n  pay(a: number) {\n    spend(a)\n  }\n}', 'pay', 3],
    ['export default function* (a: number) {\n  yield a\n}', 'a function', 3],
    ['const Page = (props: object) => (\n  <p>\n    {props.text}\n  </p>\n)', 'Page', 5],
  ])('is found, however it is written: %j', (text, name, lines) => {
    expect(functionsOf(text)).toEqual([expect.objectContaining({ name, lines, parameters: 1 })])
  })

  it('is measured inside another function', () => {
    const text = 'function outer() {\n  const inner = () => {\n    go()\n  }\n  return inner\n}'
    expect(functionsOf(text).map(({ name, lines }) => [name, lines])).toEqual([
      ['outer', 6],
      ['inner', 3],
    ])
  })

  it('counts each destructured parameter once, and `this` not at all', () => {
    const [declared, callback] = functionsOf(
      'function pay(this: Till, a, { b, c }, [d], ...rest) {}\ngo((a, b, c, d) => {})',
    )
    expect(declared).toMatchObject({ parameters: 4, isCallback: false })
    expect(callback).toMatchObject({ parameters: 4, isCallback: true })
  })
})

describe('an import', () => {
  it.each([
    ["import { a } from './a.ts'", 'here/a.ts', false],
    ["import type { A } from '../a.ts'", 'a.ts', true],
    ["import { type A } from './a.ts'", 'here/a.ts', false],
    ["import './a.ts'", 'here/a.ts', false],
    ["export { a } from './a.ts'", 'here/a.ts', false],
    ["export type * from './a.ts'", 'here/a.ts', true],
    ["const a = await import('./a.ts')", 'here/a.ts', false],
    ["type A = import('./a.ts').A", 'here/a.ts', true],
  ])('is read: %s', (text, to, isTypeOnly) => {
    expect(readSource('here/file.ts', text).imports).toEqual([{ from: 'here/file.ts', to, isTypeOnly }])
  })

  it('from a package is not counted', () => {
    expect(readSource('here/file.ts', "import { z } from 'zod'").imports).toEqual([])
  })
})

describe('a query', () => {
  it.each([
    "db\n  .selectFrom('trade')\n  .select('id')",
    'await sql`select 1`.execute(db)',
    'sql<{ id: bigint }>`select id from trade`',
    "pool.query('select 1')",
    'client.query<Row>(`\n  with a as (select 1) select * from a`)',
    "eb.exists(eb.selectFrom('trade'))",
  ])('is found: %j', (text) => {
    expect(readSource('here/file.ts', text).queries).toHaveLength(1)
  })

  it.each([
    "app.query('page')",
    "client.query('begin')",
    'css`select`',
    "// db.selectFrom('trade')",
    "const text = 'db.selectFrom(trade)'",
  ])('is not found in other code: %j', (text) => {
    expect(readSource('here/file.ts', text).queries).toEqual([])
  })
})

it('regular expressions are found with their lines, even those built from parts', () => {
  const text = "const a = /x+/gi\nconst b = new RegExp(a.source)\nconst c = RegExp('y')\nconst d = a / b / 2"
  expect(readSource('here/file.ts', text).expressions).toEqual([
    { line: 1, written: { pattern: 'x+', flags: 'gi' } },
    { line: 2 },
    { line: 3 },
  ])
})

describe('import cycles', () => {
  /** Each pair is an import: in `ab`, the file a imports the file b. */
  const cyclesAmong = (...pairs: string[]) =>
    cyclesOf(pairs.map((pair) => ({ from: pair[0] ?? '', to: pair[1] ?? '', isTypeOnly: true })))

  it('are found among other imports', () => {
    expect(cyclesAmong('ab', 'bc', 'cd', 'db', 'de', 'xy', 'yx')).toEqual([
      ['b', 'c', 'd'],
      ['x', 'y'],
    ])
  })

  it('are not reported where two paths lead to one file', () => {
    expect(cyclesAmong('ab', 'ac', 'bd', 'cd')).toEqual([])
  })
})
