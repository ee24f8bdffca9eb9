import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { OpenPicks } from './flow/state.ts'
import { storedOpenPicks, storeOpenPicks } from './storage.ts'

const values = new Map<string, string>()

beforeEach(() => {
  values.clear()
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => values.set(key, value),
    removeItem: (key: string) => values.delete(key),
  })
  onTestFinished(() => void vi.unstubAllGlobals())
})

const picksOf = (hash: string, assetId: string): OpenPicks => ({
  hash,
  tradeUrl: 'https://steamcommunity.com/tradeoffer/new/?partner=1',
  game: 'cs',
  byGame: { cs: [assetId] },
})

it('a tab stores the picks of each deposit: clearing one deposit’s picks keeps another’s', () => {
  storeOpenPicks('a', picksOf('a', '1'))
  storeOpenPicks('b', picksOf('b', '2'))
  storeOpenPicks('a', picksOf('a', '3'))
  expect(storedOpenPicks('a')?.byGame).toEqual({ cs: ['3'] })
  storeOpenPicks('a', null)
  expect(storedOpenPicks('a')).toBeNull()
  expect(storedOpenPicks('b')?.byGame).toEqual({ cs: ['2'] })
  storeOpenPicks('b', null)
  expect(values.size).toBe(0)
})

it('a tab keeps the picks of the last five deposits', () => {
  for (const hash of ['a', 'b', 'c', 'd', 'e', 'f']) storeOpenPicks(hash, picksOf(hash, '1'))
  expect(storedOpenPicks('a')).toBeNull()
  expect(storedOpenPicks('b')).not.toBeNull()
  expect(storedOpenPicks('f')).not.toBeNull()
})

it.each(['{', '7', 'null', '[null]', '[{"hash":"a"}]', '[{"hash":"a","byGame":null}]'])(
  'malformed picks (%s) count as none',
  (text) => {
    storeOpenPicks('a', picksOf('a', '1'))
    for (const key of values.keys()) values.set(key, text)
    expect(storedOpenPicks('a')).toBeNull()
  },
)
