import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** These methods run scripts of Steam's pages in this process. A script can escape from the sandbox of `node:vm`. */
const FORBIDDEN = /\.(getUserDetails|getReceivedItems)\b|node:vm\b/

it('no code of the gateway calls the library methods that run scripts of a page', () => {
  const root = join(import.meta.dirname, '../..')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  )
  expect(files).toContain(join('steam', 'web', 'connection.ts'))
  expect(files.filter((file) => FORBIDDEN.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})
