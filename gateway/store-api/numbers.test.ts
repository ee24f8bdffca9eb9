/** Compares the numbers in the store guide, and the test vector in docs/webhooks.md, with the code. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { GAME_FACTS } from '../../contract/games.ts'
import { LONGEST_REPORT_TEXT, MOST_ENDPOINTS } from '../../contract/limits.ts'
import {
  LEAST_EXPIRY_MINUTES,
  listDepositsQuerySchema,
  MOST_EXPIRY_MINUTES,
} from '../../contract/store-api.ts'
import { eventsQuerySchema } from '../../contract/webhooks.ts'
import { DEFAULT_DEPOSIT_LIFE_MS } from '../deposits/deposit.ts'
import { MOST_PAGE_BYTES } from '../events/store.ts'
import { DEFAULT_CONNECTION_LIMITS } from '../http/connections.ts'
import { createLimits } from '../http/limits.ts'
import { KEEP_SETTINGS } from '../retention/settings.ts'
import { LAST_REVIEW_MS } from '../trades/alarm.ts'
import { HASTY_MS, TRADE_WINDOW_MS } from '../trades/decide.ts'
import { WAIT_MS } from '../trades/giving-up.ts'
import { MOST_OF_STORE } from '../webhooks/pace.ts'
import { nextWaitMs } from '../webhooks/schedule.ts'
import { signWebhook } from '../webhooks/signature.ts'

const documentOf = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8')
const table =
  /<!-- numbers -->([\s\S]*?)<!-- end of numbers -->/.exec(documentOf('store-guide.md'))?.[1] ?? ''
const guideRow = (what: string): string =>
  new RegExp(`^\\| ${what.replace(/[`….*]/g, '\\$&')}[^|]*\\| (.*) \\|$`, 'm').exec(table)?.[1] ??
  `no row for ${what}`

/** Repeats a call until it is refused, and returns the number of successes. */
function countSuccesses(call: () => void): number {
  let calls = 0
  try {
    for (;;) {
      call()
      calls += 1
    }
  } catch {
    return calls
  }
}

const SECOND_MS = 1_000
const HOUR_MS = 3_600 * SECOND_MS

test('the store guide states the same limits and times for deposits and offers as the code', () => {
  const sums = Object.entries(GAME_FACTS).map(([game, { minSumUsdCents }]) => `\`${game}\` ${minSumUsdCents}`)
  expect(guideRow('smallest trade')).toContain(sums.join(', '))
  expect(guideRow('time of a deposit')).toContain(
    `${DEFAULT_DEPOSIT_LIFE_MS / 60_000} minutes; \`expiresInMinutes\` from ${LEAST_EXPIRY_MINUTES} to ${MOST_EXPIRY_MINUTES}.`,
  )
  expect(guideRow('time of an offer')).toBe(`${TRADE_WINDOW_MS / 60_000} minutes`)
  expect(guideRow('`declined_at_once`')).toContain(`${HASTY_MS / SECOND_MS} seconds`)
  expect(guideRow('an ended deposit')).toContain(`for ${LAST_REVIEW_MS / HOUR_MS} hours`)
  expect(guideRow('an ended deposit')).toContain(`up to ${WAIT_MS / 24 / HOUR_MS} days`)
})

test('the store guide states the same limits on calls as the code', () => {
  let nowMs = 0
  const { limitStore, limitBytes, limitReads, countRead } = createLimits(() => nowMs)
  const KIB = 1_024
  const atOnce = countSuccesses(() => limitStore(1n))
  const kibAtOnce = countSuccesses(() => limitBytes(1n, KIB))
  const readMib = () => {
    limitReads(1n)
    countRead(1n, KIB * KIB)
  }
  const mibReadAtOnce = countSuccesses(readMib)
  nowMs = SECOND_MS
  const later = countSuccesses(() => limitStore(1n))
  const kibLater = countSuccesses(() => limitBytes(1n, KIB))
  const mibReadLater = countSuccesses(readMib)
  expect(guideRow('calls of your store')).toContain(`${atOnce} at once, then ${later} a second`)
  expect(guideRow('bytes of the calls')).toContain(
    `${kibAtOnce / KIB} MiB at once, then ${kibLater} KiB a second`,
  )
  expect(guideRow('bytes of the answers')).toContain(
    `${mibReadAtOnce} MiB at once, then ${mibReadLater} MiB a second`,
  )
  expect(guideRow('connections from one address')).toContain(
    `${DEFAULT_CONNECTION_LIMITS.perAddress}, unless`,
  )
})

test('the store guide states the same limits of lists and webhooks and the same retention as the code', () => {
  const accepts = (schema: z.ZodType, limit: number) => schema.safeParse({ limit }).success
  const [events, deposits] = (guideRow('events in one answer').match(/\d+/g) ?? []).map(Number)
  expect([accepts(eventsQuerySchema, events ?? 0), accepts(eventsQuerySchema, Number(events) + 1)]).toEqual([
    true,
    false,
  ])
  expect([
    accepts(listDepositsQuerySchema, deposits ?? 0),
    accepts(listDepositsQuerySchema, Number(deposits) + 1),
  ]).toEqual([true, false])
  expect(guideRow('events in one answer')).toContain(`at most ${MOST_PAGE_BYTES / 1_024 ** 2} MiB`)
  expect(guideRow('period of one report')).toBe(LONGEST_REPORT_TEXT)
  expect(guideRow('webhook: deliveries under way')).toContain(`up to ${MOST_OF_STORE} from each gateway`)
  expect(guideRow('webhook: endpoints')).toBe(String(MOST_ENDPOINTS))
  const attempts = Number.parseInt(guideRow('webhook: attempts'), 10)
  const waits = Array.from({ length: attempts }, (_, failed) => nextWaitMs({ attempts: failed + 1 }, 0.5))
  expect(waits.at(-1)).toBeUndefined()
  expect(waits.slice(0, -1)).not.toContain(undefined)
  expect(guideRow('webhook: attempts')).toContain(
    `in ${Math.floor(waits.reduce<number>((sum, wait) => sum + (wait ?? 0), 0) / HOUR_MS)} hours`,
  )
  const keep = z.object(KEEP_SETTINGS).parse({})
  expect(guideRow('attempts of webhooks')).toContain(
    `${keep.TRADETILL_KEEP_ATTEMPTS_DAYS} and ${keep.TRADETILL_KEEP_DELIVERIES_DAYS} days`,
  )
  expect(guideRow('page of an ended')).toContain(`${keep.TRADETILL_KEEP_PAGES_DAYS} days`)
})

test('the test vector in docs/webhooks.md has the signature that the code makes', () => {
  const vector = /<!-- signature vector -->\n```\n([\s\S]*?)```/.exec(documentOf('webhooks.md'))?.[1] ?? ''
  const value = (name: string) => new RegExp(`^${name} +(.*)$`, 'm').exec(vector)?.[1] ?? ''
  const at = new Date(Number(value('webhook-timestamp')) * SECOND_MS)
  const message = { id: value('webhook-id'), body: value('body'), at }
  expect(signWebhook([value('secret')], message)['webhook-signature']).toBe(value('webhook-signature'))
})
