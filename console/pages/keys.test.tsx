import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Me } from '../me.ts'
import { tillNow } from '../ui/format.ts'
import { Keys } from './keys.tsx'

const ME: Me = { name: 'nina', role: 'operator', mode: 'live', isSandbox: false, isFresh: true }
const HOUR_MS = 3_600_000

const inHours = (hours: number): string => new Date(tillNow().getTime() + hours * HOUR_MS).toISOString()

const FACTS = {
  name: 'checkout',
  scopes: ['deposits:read' as const],
  createdAt: inHours(-48),
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
  unused: false,
  endsSoon: false,
}

type Changes = { revokedAt?: string; expiresAt?: string; endsSoon?: boolean; unused?: boolean }

const page = (...keys: Changes[]): string =>
  renderToStaticMarkup(
    <Me value={ME}>
      <Keys
        storeId="1"
        keys={keys.map((changes, index) => ({ ...FACTS, ...changes, keyId: `key${index}` }))}
        refresh={() => {}}
      />
    </Me>,
  )

it.each<[what: string, changes: Changes, state: string, isValid: boolean]>([
  ['that works', {}, 'valid', true],
  ['that ends soon', { expiresAt: inHours(1), endsSoon: true }, 'ends soon', true],
  ['that nobody uses', { unused: true }, 'unused for 30 days', true],
  ['that was revoked', { revokedAt: inHours(-1) }, 'revoked', false],
  ['that was revoked and has expired', { revokedAt: inHours(-2), expiresAt: inHours(-1) }, 'revoked', false],
  ['that has expired', { expiresAt: inHours(-1) }, 'expired', false],
])(
  'a key %s is shown as such, and only a valid one can be rotated or revoked',
  (_what, key, state, isValid) => {
    const shown = page(key)
    expect(shown).toMatch(new RegExp(`<span class="pill [\\w-]+">${state}</span>`))
    expect([/Rotate/.test(shown), /Revoke/.test(shown)]).toEqual([isValid, isValid])
    expect(/No key is valid/.test(shown)).toBe(!isValid)
  },
)

it('the page does not say that no key is valid if a valid key is beside a revoked one', () => {
  expect(page({ revokedAt: inHours(-1) }, {})).not.toContain('No key is valid')
})
