import { describe, expect, test } from 'vitest'
import { testDatabase } from '../testing/database.ts'
import { captureLog } from '../testing/log.ts'
import { createLog } from './log.ts'

const KEY = 'tt_test_abcdefgh_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYg_1a2b3c4d'
const HASH = '0123456789abcdef0123456789abcdef'

describe('log', () => {
  test.each([
    [
      'a field by its name',
      { apiKey: 'canary', nested: { Authorization: 'canary', list: [{ token: 'canary' }] } },
    ],
    ['a buffer', { sealed: Buffer.from('canary') }],
    [
      'what opens a Steam session',
      {
        accessToken: 'canary',
        access_token: 'canary',
        sessionid: 'canary',
        identity_secret: 'canary',
        shared_secret: 'canary',
      },
    ],
    ['a field of an error', { err: Object.assign(new Error('no'), { headers: { cookie: 'canary' } }) }],
    [
      'what lies too deep to be looked at',
      { token: 'x', a: { b: { c: { d: { e: { f: { g: ['canary'] } } } } } } },
    ],
    ['a header', { headers: { cookie: 'canary', 'set-cookie': 'canary', 'x-csrf-token': 'canary' } }],
  ])('hides %s', (_what, fields) => {
    const { log, lines } = captureLog()
    log.info(fields, 'event')
    expect(lines.join('')).toContain('redacted')
    expect(lines.join('')).not.toContain('canary')
  })

  test.each([
    ['an API key', KEY, 'Zm9v'],
    ['a webhook secret', 'whsec_Q0FOQVJZ+/=', 'Q0FOQVJZ'],
    ['a Steam token', 'eyAidHlwIjogIkpXVCJ9.eyAiaXNzIjog.c2lnbmF0dXJl', 'c2lnbmF0dXJl'],
    ['a trade link', 'https://steamcommunity.com/tradeoffer/new/?partner=1&token=CaNaRy12', 'CaNaRy12'],
    ['a bearer header', 'Authorization: Bearer c4n4ry', 'c4n4ry'],
    ['the password of a database', 'postgres://till:c4n4ry@127.0.0.1/till', 'c4n4ry'],
    ['a whole hash', `/deposit/${HASH}`, HASH],
  ])('hides %s wherever it stands', (_what, text, canary) => {
    const { log, lines } = captureLog()
    log.error({ err: new Error(`failed: ${text}`), note: text }, `event ${text}`)
    expect(lines.join('')).not.toContain(canary)
  })

  test('an error of the database tells its code and table, not the row', async () => {
    const { pool, close } = await testDatabase()
    const row = `insert into currency_of_test values ('canary-of-row')`
    await pool.query('create table currency_of_test (code text unique check (length(code) < 100))')
    await pool.query(row)
    const error: unknown = await pool.query(row).catch((reason: unknown) => reason)
    expect(error).toHaveProperty('detail', expect.stringContaining('canary-of-row'))
    const inside = { where: 'canary', internalQuery: 'canary', parameters: ['canary'] }
    const { log, lines } = captureLog()
    log.error({ err: error }, 'event')
    log.error({ err: new Error('outer', { cause: Object.assign(new Error('inner'), inside) }) }, 'event')
    log.error({ err: new AggregateError([Object.assign(new Error('one of many'), inside)]) }, 'event')
    await close()
    const text = lines.join('')
    expect(text).toContain('"type":"DatabaseError"')
    expect(text).toContain('23505')
    expect(text).toContain('currency_of_test_code_key')
    expect(text).toContain('inner')
    expect(text).toContain('one of many')
    expect(text).not.toContain('canary')
  })

  test('keeps the first six digits of a hash', () => {
    const { log, lines } = captureLog()
    log.info({ hash: HASH }, `open ${HASH}`)
    expect(lines.join('').match(/012345/g)).toHaveLength(2)
  })

  test('one event is one line, whatever a text holds', () => {
    const lines: string[] = []
    const log = createLog({ pretty: true, write: (line) => lines.push(line) })
    log.info({ name: 'evil\nname\u001b[31m' }, 'joined\nFORGED line\u001b[31m')
    const text = lines.join('')
    expect(text.trimEnd().split('\n')).toHaveLength(1)
    expect(text).not.toContain('\u001b')
  })
})
