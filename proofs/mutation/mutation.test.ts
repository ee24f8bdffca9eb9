/** `npm run prove -- mutate` runs only pure tests. A rule that is tested on a database needs a pure test too. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CORE_TESTS } from './vitest.config.ts'

const ROOT = join(import.meta.dirname, '../..')
const FUNCTION = /^export (?:function |const (?=\w+ = (?:<\w+>)?\())(\w+)/gm

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

it('every function of the money core (the files under `mutate`) is used by a pure test or by the core', () => {
  const { mutate } = JSON.parse(read('stryker.config.json')) as { mutate: string[] }
  const core = mutate.map(read).join('\n')
  const tests = globSync(CORE_TESTS, { cwd: ROOT }).map(read).join('\n')
  const functions = [...core.matchAll(FUNCTION)].map(([, name = '']) => name)
  const usesIn = (text: string, name: string): number =>
    text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0
  expect(functions.length).toBeGreaterThan(30)
  expect(functions.filter((name) => usesIn(tests, name) === 0 && usesIn(core, name) === 1)).toEqual([])
})
