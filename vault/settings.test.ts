import { expect, it } from 'vitest'
import { readSettings } from './settings.ts'

const LIVE = { TRADETILL_MODE: 'live', TRADETILL_VAULT: '/vault' }

it('live mode without sandboxes is accepted', () => {
  expect(readSettings(LIVE)).toMatchObject({
    mode: 'live',
    steamSandboxUrl: undefined,
    marketSandboxUrl: undefined,
  })
})

it.each(['TRADETILL_STEAM_SANDBOX_URL', 'TRADETILL_MARKET_SANDBOX_URL'])(
  '%s is refused in live mode',
  (name) => {
    expect(() => readSettings({ ...LIVE, [name]: 'http://127.0.0.1:4301' })).toThrow(
      `${name} is refused in live mode`,
    )
  },
)

it.each([
  [
    'to run without certificate checks',
    { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    'NODE_TLS_REJECT_UNAUTHORIZED',
  ],
  ['to log its calls, with their tokens', { NODE_DEBUG: 'https' }, 'NODE_DEBUG'],
])('live mode refuses %s, which sandbox mode allows', (_what, given, name) => {
  expect(() => readSettings({ ...LIVE, ...given })).toThrow(`${name} `)
  const sandbox = { TRADETILL_STEAM_SANDBOX_URL: 'http://127.0.0.1:4301', ...given }
  expect(readSettings(sandbox)).toMatchObject({ mode: 'sandbox' })
})

it('live mode refuses a database on another machine if its certificate is not checked, unless the operator allows it', () => {
  const at = (rest: string) => ({ TRADETILL_VAULT_DATABASE_URL: `postgres://vault:secret@${rest}` })
  const unverified = at('db.example/till?sslmode=require')
  expect(() => readSettings({ ...LIVE, ...unverified })).toThrow(
    /^TRADETILL_VAULT_DATABASE_URL leads to db.example and has an sslmode that does not verify.*verify-full/,
  )
  expect(() => readSettings({ ...LIVE, ...unverified, TRADETILL_PLAIN_DATABASE: '1' })).not.toThrow()
  expect(() => readSettings({ ...LIVE, ...at('db.example/till?sslmode=verify-full') })).not.toThrow()
  expect(() => readSettings({ ...LIVE, ...at('localhost/till') })).not.toThrow()
  expect(() => readSettings({ ...LIVE, ...at('/till?host=/run/postgresql') })).not.toThrow()
  expect(() => readSettings({ ...LIVE, ...at('/till?host=db.example') })).toThrow('leads to db.example')
  const socket = (address: string) => ({ TRADETILL_VAULT_DATABASE_URL: address })
  expect(() => readSettings({ ...LIVE, ...socket('socket:/run/postgresql?db=till') })).not.toThrow()
  expect(() => readSettings({ ...LIVE, ...socket('socket:db.example?db=till') })).toThrow('leads to')
  expect(() => readSettings({ ...LIVE, ...at('a b/till') })).toThrow('must be a URL with a host')
  expect(() => readSettings({ ...LIVE, ...unverified, TRADETILL_PLAIN_DATABASE: '0' })).toThrow('leads to')
})

it('sandbox mode needs a Steam sandbox, and the error names the command for the vault of npm start', () => {
  expect(() => readSettings({})).toThrow(/needs TRADETILL_STEAM_SANDBOX_URL.*npm run -s vault/)
})
