import { describe, expect, test } from 'vitest'
import { testDatabase } from '../testing/database.ts'
import { captureLog } from '../testing/log.ts'
import { createLog } from './log.ts'

const API_KEY = 'tt_test_abcdefgh_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYg_1a2b3c4d'
const HASH = '0123456789abcdef0123456789abcdef'

/** A line that is too long is cut to 8,192 characters, and so is its message. The rest is room for escaped quotes. */
const MOST_CUT_LINE = 20_000

describe('the log', () => {
  test.each([
    [
      'a field by its name',
      { apiKey: 'canary', nested: { Authorization: 'canary', list: [{ token: 'canary' }] } },
    ],
    ['a buffer', { sealed: Buffer.from('canary') }],
    [
      'the secrets of a Steam session',
      {
        accessToken: 'canary',
        access_token: 'canary',
        sessionid: 'canary',
        identity_secret: 'canary',
        shared_secret: 'canary',
      },
    ],
    ['a field of an error', { err: Object.assign(new Error('no'), { headers: { cookie: 'canary' } }) }],
    ['a value nested too deeply', { token: 'x', a: { b: { c: { d: { e: { f: { g: ['canary'] } } } } } } }],
    ['a header', { headers: { cookie: 'canary', 'set-cookie': 'canary', 'x-csrf-token': 'canary' } }],
  ])('hides %s', (_what, fields) => {
    const { log, lines } = captureLog()
    log.info(fields, 'event')
    expect(lines.join('')).toContain('redacted')
    expect(lines.join('')).not.toContain('canary')
  })

  test.each([
    ['an API key', API_KEY, 'Zm9v'],
    ['a webhook secret', 'whsec_Q0FOQVJZ+/=', 'Q0FOQVJZ'],
    ['a Steam token', 'eyAidHlwIjogIkpXVCJ9.eyAiaXNzIjog.c2lnbmF0dXJl', 'c2lnbmF0dXJl'],
    ['a trade link', 'https://steamcommunity.com/tradeoffer/new/?partner=1&token=CaNaRy12', 'CaNaRy12'],
    ['a bearer header', 'Authorization: Bearer c4n4ry', 'c4n4ry'],
    ['the password of a database', 'postgres://till:c4n4ry@127.0.0.1/till', 'c4n4ry'],
    ['a whole hash', `/deposit/${HASH}`, HASH],
    ['a hash in capitals', `/DEPOSIT/${HASH.toUpperCase()}`, HASH.toUpperCase()],
    ['a hash in an address inside an address', `?next=%2Fdeposit%3Fhash%3D${HASH}`, HASH],
    ['a hash in a name', `deposit_${HASH}`, HASH],
    ['a Steam token in capitals', 'EYAIDHLWIJOGIKPXVCJ9.EYAIAXNZIJOG.C2LNBMF0DXJL', 'C2LNBMF0DXJL'],
    ['half of a Steam token', 'eyAidHlwIjogIkpXVCJ9.eyAiaXNzIjoic2', 'eyAidHlw'],
    ['a field of JSON in a text', '{"token":"c4n4ry","x":1}', 'c4n4ry'],
    [
      'a field of JSON in JSON in a text',
      JSON.stringify(JSON.stringify({ access_token: 'c4n4ry' })),
      'c4n4ry',
    ],
    ['a query that is escaped', '?to=%3Fuser_token%3Dc4n4ry%26x', 'c4n4ry'],
  ])('hides %s anywhere in a line', (_what, text, canary) => {
    const { log, lines } = captureLog()
    log.error({ err: new Error(`failed: ${text}`), note: text }, `event ${text}`)
    expect(lines.join('')).not.toContain(canary)
  })

  test.each([
    ['text that only resembles a secret', `eyes.on.it, eyebrow 0123456789abcdef, sha1 ${'a1'.repeat(20)}`],
    ['an address without a password', 'postgres://127.0.0.1/till'],
  ])('keeps %s', (_what, text) => {
    const { log, lines } = captureLog()
    log.info(text)
    expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({ msg: text })
  })

  test('cuts a long line, even if it repeats the beginning of a secret', () => {
    const { log, lines } = captureLog()
    const beginnings = [
      'eyJ-',
      'ey',
      'token=',
      'token":"',
      'postgres://a:',
      'Bearer \t',
      'tt_test_',
      '%3D01',
      'whsec_',
      '0a',
    ]
    for (const text of beginnings) log.info({ text: text.repeat(400_000 / text.length) }, text)
    expect(lines).toHaveLength(beginnings.length)
    for (const line of lines) expect(line.length).toBeLessThan(MOST_CUT_LINE)
  })

  test('cuts a line that is too long, and hides the secrets in it', () => {
    const { log, lines } = captureLog()
    log.error({ note: `${API_KEY} ${'n'.repeat(1_000_000)}` }, `event ${HASH}`)
    expect(lines[0]?.length).toBeLessThan(MOST_CUT_LINE)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', msg: 'event 012345…' })
    expect(lines[0]).toContain('tt_test_[redacted]')
    expect(lines[0]).not.toContain('Zm9v')
  })

  test('shows the code and table of a database error, not the row', async () => {
    const { pool, close } = await testDatabase()
    const insert = `insert into currency_of_test values ('canary-of-row')`
    await pool.query('create table currency_of_test (code text unique check (length(code) < 100))')
    await pool.query(insert)
    const error: unknown = await pool.query(insert).catch((reason: unknown) => reason)
    expect(error).toHaveProperty('detail', expect.stringContaining('canary-of-row'))
    const rowFields = { where: 'canary', internalQuery: 'canary', parameters: ['canary'] }
    const { log, lines } = captureLog()
    log.error({ err: error }, 'event')
    log.error({ err: new Error('outer', { cause: Object.assign(new Error('inner'), rowFields) }) }, 'event')
    log.error({ err: new AggregateError([Object.assign(new Error('one of many'), rowFields)]) }, 'event')
    await close()
    const text = lines.join('')
    expect(text).toContain('"type":"DatabaseError"')
    expect(text).toContain('23505')
    expect(text).toContain('"table":"currency_of_test"')
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

  test('writes each message as one line, whatever its texts contain', () => {
    const lines: string[] = []
    const log = createLog({ pretty: true, write: (line) => lines.push(line) })
    log.info({ name: 'evil\nname\u001b[31m\u009b31m\u0085' }, 'joined\nFORGED line\u001b[31m\u009b31m\u007f')
    const text = lines.join('')
    expect(text.trimEnd()).not.toMatch(/\p{Cc}/u)
    expect(text).toContain('name="evil\\nname\\u001b[31m\\u009b31m\\u0085"')
  })

  test('writes lines of JSON without control characters, and keeps their text', () => {
    const { log, lines } = captureLog()
    // Includes every control character: the last one is 0x9f.
    const name = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join('')
    log.info({ name }, 'event')
    expect(lines[0]?.trimEnd()).not.toMatch(/\p{Cc}/u)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ name })
  })
})
