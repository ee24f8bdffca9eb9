import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GATEWAY_SETTINGS, readConfig } from './config.ts'
import { unknownSettings } from './unknown-settings.ts'

const ROOT = join(import.meta.dirname, '..')

function unknown(environment: Record<string, string>) {
  const answer = readConfig(environment)
  if (answer.kind === 'refused') throw new Error(answer.problems.join())
  return answer.config.unknownSettings
}

describe('unknownSettings', () => {
  it.each([
    ['a missing letter', 'TRADETILL_PRICE_MIN_SALE', 'TRADETILL_PRICE_MIN_SALES'],
    ['a letter too many', 'TRADETILL_MAX_ITEMSS', 'TRADETILL_MAX_ITEMS'],
    ['a wrong letter', 'TRADETILL_COMMISSION_BPC', 'TRADETILL_COMMISSION_BPS'],
    ['two swapped letters', 'TRADETILL_PROTECTION_DASY', 'TRADETILL_PROTECTION_DAYS'],
  ])('names the setting that was meant: %s', (_what, name, meant) => {
    expect(unknown({ [name]: '1' })).toEqual([{ name, meant }])
  })

  it('proposes no setting whose name differs more', () => {
    expect(unknown({ TRADETILL_MAXIMUM: '1', TRADETILL_COLOUR: 'red' })).toEqual([
      { name: 'TRADETILL_COLOUR', meant: undefined },
      { name: 'TRADETILL_MAXIMUM', meant: undefined },
    ])
  })

  it('reports no empty setting, and none of other programs', () => {
    expect(unknown({ TRADETILL_COLOUR: '', PATH: '/bin', LANG: 'C' })).toEqual([])
  })

  it('knows each setting in the documents and in deploy/', () => {
    const files = globSync(['README.md', 'docs/*.md', 'deploy/**'], { cwd: ROOT, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
    const names = new Set(files.join('\n').match(/\bTRADETILL_[A-Z_]*[A-Z]\b/g))
    expect(names.size).toBeGreaterThan(60)
    expect(unknownSettings([...names], GATEWAY_SETTINGS)).toEqual([])
  })
})
