import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { json, type SourceServer, startSourceServer } from '../../testing/source-server.ts'
import { referenceRates } from './ecb.ts'
import { webRates } from './rates.ts'

const NOW = new Date('2026-01-01T12:00:00Z')
const NOW_SECONDS = NOW.getTime() / 1000
const neverAborted = new AbortController().signal

let server: SourceServer

beforeEach(async () => {
  server = await startSourceServer()
})
afterEach(() => server.close())

describe('exchange rates', () => {
  const ANSWER = {
    result: 'success',
    base_code: 'USD',
    time_last_update_unix: NOW_SECONDS - 3_600,
    rates: { USD: 1, EUR: 0.862513, BRL: 5.3401, JPY: 155.2 },
  }

  test('are read for the till’s currencies, each as a decimal with its time', async () => {
    server.answer('/v6/latest/USD', json(ANSWER))
    const asOf = new Date(NOW.getTime() - 3_600_000)
    expect(await webRates(server.url).fetchRates?.(neverAborted)).toEqual([
      { currency: 'USD', perUsd: '1', asOf },
      { currency: 'EUR', perUsd: '0.862513', asOf },
      { currency: 'BRL', perUsd: '5.3401', asOf },
    ])
  })

  test.each([
    ['with another base', { ...ANSWER, base_code: 'EUR' }],
    ['with a time in milliseconds', { ...ANSWER, time_last_update_unix: NOW_SECONDS * 1_000 }],
    ['in an answer that reports an error', { result: 'error', 'error-type': 'unsupported-code' }],
  ])('are refused %s', async (_what, answer) => {
    server.answer('/v6/latest/USD', json(answer))
    await expect(webRates(server.url).fetchRates?.(neverAborted)).rejects.toThrow('unexpected form')
  })

  test('are omitted for a currency whose rate is not a number', async () => {
    server.answer('/v6/latest/USD', json({ ...ANSWER, rates: { EUR: null, BRL: '5.3' } }))
    expect(await webRates(server.url).fetchRates?.(neverAborted)).toEqual([])
  })
})

describe('the reference rates of the European Central Bank', () => {
  const PATH = '/stats/eurofxref/eurofxref-daily.xml'
  const page = (cubes: string) => (response: ServerResponse) =>
    response.end(`<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope><Cube><Cube time='2026-01-02'>${cubes}</Cube></Cube></gesmes:Envelope>`)
  const read = () => referenceRates(server.url).fetchRates?.(neverAborted)

  test('are converted to units per dollar, as of the afternoon of their day', async () => {
    server.answer(PATH, page("<Cube currency='USD' rate='1.1594'/><Cube currency='BRL' rate='6.1913'/>"))
    const asOf = new Date('2026-01-02T15:00:00Z')
    expect(await read()).toEqual([
      { currency: 'USD', perUsd: '1.00000000', asOf },
      { currency: 'EUR', perUsd: '0.86251509', asOf },
      { currency: 'BRL', perUsd: '5.34008970', asOf },
    ])
  })

  test.each([
    ['without a rate of the dollar', page("<Cube currency='BRL' rate='6.1913'/>")],
    ['in a page of HTML', (response: ServerResponse) => response.end('<html>moved</html>')],
    ['with an invalid rate of the dollar', page("<Cube currency='USD' rate='0x1'/>")],
  ])('are refused %s', async (_what, answer) => {
    server.answer(PATH, answer)
    await expect(read()).rejects.toThrow('unexpected form')
  })

  test('are omitted for a currency whose rate is missing or not a number', async () => {
    server.answer(PATH, page("<Cube currency='USD' rate='1.1594'/><Cube currency='BRL' rate='N/A'/>"))
    expect((await read())?.map(({ currency }) => currency)).toEqual(['USD', 'EUR'])
  })
})
