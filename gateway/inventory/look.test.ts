import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Signals } from '../db/signals.ts'
import type { Unavailable } from '../steam/steam.ts'
import { anItem, type Reader, type StockedTill, startStockedTill } from '../testing/inventory.ts'
import { readInventory } from './service.ts'

let till: StockedTill
let first: Reader
let second: Reader

beforeEach(async () => {
  till = await startStockedTill()
  await till.addReader()
  const [firstReader, secondReader] = till.readers
  if (firstReader === undefined || secondReader === undefined) throw new Error('a bot is missing')
  first = firstReader
  second = secondReader
  second.steam.owned = { kind: 'items', items: [anItem('2', 'Case')] }
})
afterEach(() => till.close())

const unavailable = (reason: Unavailable['reason']) => ({ kind: 'unavailable', reason, detail: '' }) as const

const requestRows = () =>
  till.db.selectFrom('inventory_request').select(['bot_id', 'state']).orderBy('id').execute()

/**
 * Asks, and ends the first `skipped` waits early, once `skipAfter` has resolved. `waits`: the timeouts of all waits, in
 * milliseconds.
 */
function ask(skipped = 0, skipAfter = Promise.resolve()) {
  const { signals } = till.deps
  const waits: number[] = []
  const until: Signals['until'] = (topic, check, within) => {
    waits.push(within.timeoutMs)
    return waits.length <= skipped ? skipAfter.then(() => undefined) : signals.until(topic, check, within)
  }
  const answer = readInventory(
    { ...till.deps, signals: { ...signals, until } },
    { hash: till.hash, game: 'cs' },
  )
  return { answer, waits }
}

describe('another bot is asked', () => {
  test.each(['session_dead', 'not_our_turn', 'rate_limited'] as const)(
    'within the same call if the first bot’s answer is %s',
    async (reason) => {
      first.steam.owned = unavailable(reason)
      const { answer, waits } = ask()
      const { items } = await till.withBot(() => answer)
      expect(items).toMatchObject([{ id: '2' }])
      expect([first.steam.reads, second.steam.reads]).toEqual([1, 1])
      expect(waits).toEqual([5_000, 5_000])
    },
  )

  test('if no bot has taken up the request after five seconds', async () => {
    const { answer } = ask(1)
    const { items } = await till.withBots([second], () => answer)
    expect(items).toMatchObject([{ id: '2' }])
    expect(await requestRows()).toEqual([
      { bot_id: first.bot.botId, state: 'done' },
      { bot_id: second.bot.botId, state: 'done' },
    ])
    // No bot carries out the withdrawn request later: only the new call reads again.
    till.clock.advance(60_000)
    const again = ask()
    expect((await till.withBot(() => again.answer)).items).toHaveLength(1)
    expect(first.steam.reads + second.steam.reads).toBe(2)
  })

  test('in one request on behalf of all waiting calls', async () => {
    const firstWaits = Promise.withResolvers<void>()
    const calls = [1, 2, 3].map(() => ask(1, firstWaits.promise))
    await expect.poll(() => calls.map(({ waits }) => waits.length)).toEqual([1, 1, 1])
    firstWaits.resolve()
    const answers = await till.withBots([second], () => Promise.all(calls.map(({ answer }) => answer)))
    expect(answers.map(({ items }) => items.length)).toEqual([1, 1, 1])
    expect(second.steam.reads).toBe(1)
    expect(await requestRows()).toHaveLength(2)
  })

  test('until three bots have been asked, within twenty seconds', async () => {
    await till.addReader()
    await till.addReader()
    const { answer, waits } = ask(3)
    expect(await answer).toMatchObject({ inventoryErrorType: 'internal' })
    expect(waits).toEqual([5_000, 5_000, 10_000])
    expect(await requestRows()).toHaveLength(3)
  })
})

describe('no other bot is asked', () => {
  test.each(['timeout', 'steam_error'] as const)('if Steam itself fails: %s', async (reason) => {
    first.steam.owned = unavailable(reason)
    const { answer } = ask()
    expect(await till.withBot(() => answer)).toMatchObject({ inventoryErrorType: 'internal' })
    expect(second.steam.reads).toBe(0)
  })

  test('after Steam has limited two accounts, because it then probably limits our address', async () => {
    const third = await till.addReader()
    for (const { steam } of [first, second, third]) steam.owned = unavailable('rate_limited')
    const { answer } = ask()
    expect(await till.withBot(() => answer)).toMatchObject({ inventoryErrorType: 'internal' })
    expect([first, second, third].map(({ steam }) => steam.reads)).toEqual([1, 1, 0])
  })

  test('while the first bot is working', async () => {
    let letFirstAnswer = () => {}
    first.steam.release = new Promise((resolve) => {
      letFirstAnswer = resolve
    })
    await till.withBot(async () => {
      // Another call makes the first bot start.
      const earlier = ask()
      await expect.poll(() => first.steam.reads).toBe(1)
      const { answer, waits } = ask(2)
      await expect.poll(() => waits).toEqual([5_000, 5_000, 5_000])
      letFirstAnswer()
      expect((await answer).items).toMatchObject([{ id: '1' }])
      await earlier.answer
    })
    expect(second.steam.reads).toBe(0)
  })

  test('if no other bot is online: the request keeps waiting for its bot', async () => {
    await till.db.updateTable('bot').set({ online: false }).where('id', '=', second.bot.botId).execute()
    const { answer, waits } = ask(2)
    await expect.poll(() => waits).toHaveLength(3)
    expect((await till.withBot(() => answer)).items).toMatchObject([{ id: '1' }])
    expect(await requestRows()).toEqual([{ bot_id: first.bot.botId, state: 'done' }])
  })
})

test('a page that is closed during the wait is not reported as a bot that did not answer', async () => {
  const page = new AbortController()
  const { signals } = till.deps
  const until: Signals['until'] = (topic, check, within) => {
    page.abort()
    return signals.until(topic, check, within)
  }
  const deps = { ...till.deps, signals: { ...signals, until } }
  await readInventory(deps, { hash: till.hash, game: 'cs' }, { signal: page.signal })
  expect(till.lines.join('')).not.toContain('no bot answered')
})

describe('during an update, in which two releases share the requests', () => {
  const lastAnswer = () =>
    till.db.selectFrom('inventory_request').select('answer').orderBy('id', 'desc').executeTakeFirstOrThrow()

  test('an inventory that is too large is stored with a reason that every release can read', async () => {
    first.steam.owned = { ...unavailable('too_large'), detail: 'no end after 20000 items' }
    expect(await till.ask()).toMatchObject({ inventoryErrorType: 'internal' })
    const answer = { kind: 'unavailable', reason: 'steam_error', detail: 'no end after 20000 items' }
    expect(await lastAnswer()).toEqual({ answer })
  })

  test('an answer with a reason of a later release counts as a failure of Steam', async () => {
    first.steam.owned = unavailable('timeout')
    await till.ask()
    const answer = { kind: 'unavailable', reason: 'of_a_later_release', detail: '' }
    await till.db
      .updateTable('inventory_request')
      .set({ answer: JSON.stringify(answer) })
      .execute()
    expect(await till.ask()).toMatchObject({ inventoryErrorType: 'internal' })
    expect(first.steam.reads).toBe(1)
  })
})
