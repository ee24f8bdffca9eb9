import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const BUGS = 39

const rows = [
  ...readFileSync(join(ROOT, 'docs/bugs-of-others.md'), 'utf8').matchAll(
    /^\| (\d+) \| .+ \| `([\w./-]+)` › (.+?) \| .+ \|$/gm,
  ),
].map(([, number, file, title]) => ({ number: Number(number), file: file ?? '', title: title ?? '' }))

describe('the table of known bugs', () => {
  it(`has a row for each of the ${BUGS} bugs`, () => {
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: BUGS }, (_, index) => index + 1))
  })

  it('names tests that exist', () => {
    const missing = rows.filter(({ file, title }) => !readFileSync(join(ROOT, file), 'utf8').includes(title))
    expect(missing).toEqual([])
  })
})
