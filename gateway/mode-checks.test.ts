import { describe, expect, test } from 'vitest'
import { readConfig } from './config.ts'

function problemsOf(environment: Record<string, string>): string[] {
  const answer = readConfig(environment)
  return answer.kind === 'refused' ? answer.problems : []
}

const PORT = { TRADETILL_CONSOLE_PORT: '4304' }
const KEY = { TRADETILL_CONSOLE_SANDBOX_KEY: 'k'.repeat(43) }

describe('D-33 the console of a sandbox', () => {
  test.each([
    [
      'at an IPv4 address',
      { TRADETILL_CONSOLE_URL: 'http://127.0.0.1:4304' },
      'must have the name of a host',
    ],
    ['at an IPv6 address', { TRADETILL_CONSOLE_URL: 'http://[::1]:4304' }, 'must have the name of a host'],
    ['on a host elsewhere', { TRADETILL_CONSOLE_URL: 'https://ops.example' }, 'leads off this machine'],
    ['on all addresses', { TRADETILL_CONSOLE_HOST: '0.0.0.0' }, 'leads off this machine'],
    [
      'with a sandbox key if other machines can reach it',
      { TRADETILL_CONSOLE_HOST: '0.0.0.0', TRADETILL_PUBLIC_SANDBOX: '1', ...KEY },
      'must not be set while other machines can reach the console',
    ],
    ['with a short key', { TRADETILL_CONSOLE_SANDBOX_KEY: 'k' }, 'at least 32 characters'],
  ])('is refused %s', (_title, settings, why) => {
    expect(problemsOf({ ...PORT, ...settings })).toEqual([expect.stringContaining(why)])
  })

  test('needs a port if it has a URL', () => {
    expect(problemsOf({ TRADETILL_CONSOLE_URL: 'http://localhost:4304' })).toEqual([
      expect.stringContaining('TRADETILL_CONSOLE_PORT must be set too'),
    ])
  })

  test('may have a sandbox key on this machine', () => {
    expect(problemsOf({ ...PORT, ...KEY })).toEqual([])
  })
})

const LIVE = {
  TRADETILL_MODE: 'live',
  DATABASE_URL: 'postgres://till@127.0.0.1/till',
  TRADETILL_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  TRADETILL_PUBLIC_URL: 'https://pay.example',
  TRADETILL_TRUSTED_PROXIES: '127.0.0.1',
}

describe('D-33 a console in live mode', () => {
  test('needs no settings if it is off', () => {
    expect(problemsOf(LIVE)).toEqual([])
  })

  test('may have its own host name', () => {
    expect(problemsOf({ ...LIVE, ...PORT, TRADETILL_CONSOLE_URL: 'https://till-ops.example' })).toEqual([])
  })

  test.each([
    ['without a URL', {}, 'must be set in live mode to the https address'],
    ['over http', { TRADETILL_CONSOLE_URL: 'http://till-ops.example' }, 'to the https address'],
    ['at an IP address', { TRADETILL_CONSOLE_URL: 'https://203.0.113.7' }, 'must have the name of a host'],
    [
      'on another port of the shoppers’ host',
      { TRADETILL_CONSOLE_URL: 'https://pay.example:4304' },
      'must have a different host name',
    ],
    [
      'with the key of a sandbox',
      { TRADETILL_CONSOLE_URL: 'https://till-ops.example', ...KEY },
      'must not be set in live mode',
    ],
  ])('is refused %s', (_title, settings, why) => {
    expect(problemsOf({ ...LIVE, ...PORT, ...settings })).toEqual([expect.stringContaining(why)])
  })
})
