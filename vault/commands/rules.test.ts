/** The name of a destination that the till could not use is refused. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readSettings } from '../settings.ts'
import { Refusal, type Terminal } from '../terminal.ts'
import { allow } from './rules.ts'

const LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=1&token=abcdefgh'

it('a destination with a name that is not allowed is refused with the rule, and nothing is written', () => {
  const path = mkdtempSync(join(tmpdir(), 'vault-rules-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  const settings = readSettings({
    TRADETILL_VAULT: path,
    TRADETILL_STEAM_SANDBOX_URL: 'http://localhost:4301',
  })
  const terminal: Terminal = { isPerson: true, print() {}, ask: async () => '', lines: async () => [] }
  for (const name of ['Seller', 'my storage', 'x'.repeat(41), '']) {
    const allowNamed = () => allow(settings, terminal, { name, link: LINK })
    expect(allowNamed).toThrow(Refusal)
    expect(allowNamed).toThrow('lower-case letters, digits and hyphens')
  }
  expect(readdirSync(path)).toEqual([])
})
