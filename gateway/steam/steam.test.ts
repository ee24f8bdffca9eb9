import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('the port has no optional field or parameter, so the compiler finds all code that lacks a new one', () => {
  const port = readFileSync(join(import.meta.dirname, 'steam.ts'), 'utf8')
  expect(port).toContain('export interface SteamSession')
  expect(port.split('\n').filter((line) => /\w\?:/.test(line))).toEqual([])
})
