import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const SETTING = /\b(?:TRADETILL|STEAM_SANDBOX|MARKET_SANDBOX|DEMO_STORE|DATABASE|CHROMIUM)_[A-Z_]*[A-Z]\b/g
const READERS = [
  'gateway/config.ts',
  'gateway/pricing/settings.ts',
  'gateway/retention/settings.ts',
  'vault/settings.ts',
  'scripts/*.ts',
  'demo-store/main.ts',
  'steam-sandbox/main.ts',
  'market-sandbox/main.ts',
]

function namesIn(text: string): string[] {
  return [...new Set(text.match(SETTING) ?? [])].sort()
}

test('docs/operating.md lists exactly the settings that are read', () => {
  const files = globSync(READERS, { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'))
  const read = namesIn(files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n'))
  expect(read.length).toBeGreaterThan(20)
  const rows = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8').match(/^\| `[A-Z_`, ]+` \|/gm) ?? []
  expect(namesIn(rows.join('\n'))).toEqual(read)
})
