/** Shoppers who visit all the time while the gateway dies and returns, and Steam users who answer offers meanwhile. */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { GAMES, type Game } from '../../contract/games.ts'
import { type Inventory, inventorySchema } from '../../contract/widget-api.ts'
import { reverseTrade } from '../../steam-sandbox/world/trades.ts'
import { STATE, TRADE } from '../../steam-sandbox/world/world.ts'
import type { Random } from '../random.ts'
import type { ProcessTill } from './till.ts'

/** Accounts of the sandbox. This file answers the offers to the first two, the sandbox those to the others. */
const PEOPLE = ['nova_hound', 'quiet_lynx', 'magic_accepts', 'magic_declines', 'magic_counters'] as const
const VISITORS = 4
/** The share of offers that a person declines, and the longest time until an answer. */
const DECLINES = 0.15
const MOST_THOUGHT_MS = 1_200
/** The shortest and the longest pause between two visits. */
const PAUSE_MS = [200, 900] as const
/**
 * The share of protected trades that are taken back, the share of these that lose only the first item, and the longest
 * delay.
 */
const TAKEN_BACK = 0.6
const TAKEN_IN_PART = 0.3
const MOST_REGRET_MS = 4_000
/**
 * The share of visits that must bring items of Counter-Strike 2, the only game that Steam protects. The others choose
 * any game, this one included.
 */
const PROTECTED_SHARE = 0.4
const STEAM_POLL_MS = 40
const RETRY_MS = 100
/** Long enough for a busy machine to restart a gateway after a kill. */
const PATIENCE_MS = 120_000
/** Deadline of one call. */
const CALL_MS = 25_000

export type Load = {
  /** The external ids of the deposits whose creation was confirmed to the store. */
  confirmedIds: string[]
  /**
   * Begins no further visits. Resolves when the last one has ended. People on Steam still answer offers, but take
   * nothing back.
   */
  stopVisits(): Promise<void>
  end(): Promise<void>
}

export function startLoad(till: ProcessTill, random: Random): Load {
  const confirmedIds: string[] = []
  const leaving = new AbortController()
  const ending = new AbortController()
  const visitors = Array.from({ length: VISITORS }, async () => {
    while (!leaving.signal.aborted) {
      await visit(till, random, confirmedIds)
      await delay(random.between(...PAUSE_MS))
    }
  })
  const people = peopleOnSteam(till, random, { ending: ending.signal, leaving: leaving.signal })
  const stopVisits = async (): Promise<void> => {
    leaving.abort()
    await Promise.all(visitors)
  }
  return {
    confirmedIds,
    stopVisits,
    async end() {
      await stopVisits()
      ending.abort()
      await people
    },
  }
}

const createdSchema = z.object({ id: z.string(), url: z.string() })
const refusalSchema = z.object({ code: z.string() })

/** Makes one deposit, up to its offer. `peopleOnSteam` or the sandbox answers the offer. */
async function visit(till: ProcessTill, random: Random, confirmedIds: string[]): Promise<void> {
  const externalId = `visit-${randomBytes(8).toString('hex')}`
  const hash = await openVisit(till, externalId, random.pick(PEOPLE))
  if (hash === undefined) return
  confirmedIds.push(externalId)
  const game = random.chance(PROTECTED_SHARE) ? 'cs' : (GAMES[random.int(GAMES.length)] ?? 'cs')
  const shown = await showItems(till, hash, game)
  if (shown === undefined) return
  const { items, quoteId } = shown
  const picked = new Set(
    Array.from({ length: random.between(1, 2) }, () => items[random.int(items.length)]?.id),
  )
  const ids = [...picked].flatMap((id) => (id === undefined ? [] : [id]))
  if (ids.length > 0) await requestTrade(till, { hash, game, items: ids, quoteId })
}

/**
 * Creates a deposit for this person, and enters their trade link. Resolves to the deposit's hash; undefined if the
 * creation was not confirmed.
 */
export async function openVisit(
  till: ProcessTill,
  externalId: string,
  person: string,
): Promise<string | undefined> {
  const store = { authorization: `Bearer ${till.secrets.apiKey}` }
  const { steamId, tradeUrl } = till.steam.as(person)
  // The same few people return again and again, and some decline. The store locks each deposit to its shopper, so the
  // till does not make them wait.
  const shopper = { steamId, lock: true }
  const deposit = { externalId, currency: 'USD', backToStoreUrl: 'http://localhost/', shopper }
  const answer = await call(till, '/v1/deposits', { headers: store, body: deposit })
  if (!answer?.ok) return undefined
  const hash = createdSchema.parse(await answer.json()).url.slice(-32)
  await call(till, '/api/trade-url', { body: { hash, tradeUrl: tradeUrl() } })
  return hash
}

export async function showItems(till: ProcessTill, hash: string, game: Game): Promise<Inventory | undefined> {
  const shown = await call(till, `/api/inventory?hash=${hash}&game=${game}`)
  return shown?.ok ? inventorySchema.parse(await shown.json()) : undefined
}

/**
 * Asks for the trade until there is a final answer. Asks again if the outcome is unknown, as the page does. Resolves to
 * 'active', to the code of a refusal, or to undefined without a final answer.
 */
export async function requestTrade(till: ProcessTill, body: object): Promise<string | undefined> {
  const endMs = performance.now() + PATIENCE_MS
  while (performance.now() < endMs) {
    const answer = await call(till, '/api/trade', { body })
    if (answer === undefined) return undefined
    if (answer.status === 200) return 'active'
    if (answer.status !== 202) return refusalSchema.parse(await answer.json()).code
    await delay(RETRY_MS)
  }
  return undefined
}

type Call = { headers?: Record<string, string>; body?: object }

/**
 * Calls the till. Repeats a call that gets no answer, 429 or a status of 500 or more, such as 503 while no bot is
 * available, for up to `PATIENCE_MS`; then resolves to undefined.
 */
export async function call(till: ProcessTill, path: string, { headers = {}, body }: Call = {}) {
  // Any token of this length will do, if the cookie and the header have the same.
  const token = 'k'.repeat(43)
  const pageHeaders = { cookie: `csrf=${token}`, 'x-csrf-token': token, origin: till.url }
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const init = {
    headers: { ...pageHeaders, ...json, ...headers },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  }
  const endMs = performance.now() + PATIENCE_MS
  while (performance.now() < endMs) {
    try {
      const answer = await fetch(`${till.url}${path}`, { ...init, signal: AbortSignal.timeout(CALL_MS) })
      if (answer.status < 500 && answer.status !== 429) return answer
    } catch {
      // The gateway was killed, or is not up again yet.
    }
    await delay(RETRY_MS)
  }
  return undefined
}

type Signals = { ending: AbortSignal; leaving: AbortSignal }

/**
 * Accepts or declines open offers to the first two people, a moment after each offer appears on Steam, even if the till
 * does not know it yet. Takes some protected trades back until the shoppers stop coming.
 */
async function peopleOnSteam(
  { steam }: ProcessTill,
  random: Random,
  { ending, leaving }: Signals,
): Promise<void> {
  const takeSomeBack = createRegrets(steam, random)
  const thinking = new Map<string, { atMs: number; accepts: boolean }>()
  const answeredHere = new Set([steam.as('nova_hound').steamId, steam.as('quiet_lynx').steamId])
  while (!ending.aborted) {
    const nowMs = performance.now()
    for (const { id, state, partner } of steam.world().offers) {
      if (state !== STATE.active || !answeredHere.has(partner)) continue
      const thought = thinking.get(id)
      if (thought === undefined) {
        thinking.set(id, { atMs: nowMs + random.int(MOST_THOUGHT_MS), accepts: !random.chance(DECLINES) })
      } else if (nowMs >= thought.atMs) {
        const person = steam.as(partner)
        if (thought.accepts) person.accept(id)
        else person.decline(id)
      }
    }
    if (!leaving.aborted) takeSomeBack(nowMs)
    await delay(STEAM_POLL_MS)
  }
}

/**
 * Returns a function that takes some protected trades back, seconds after their delivery: whole, or only the first
 * item.
 */
function createRegrets(steam: ProcessTill['steam'], random: Random): (nowMs: number) => void {
  /** When each trade will be taken back; null for never. */
  const plans = new Map<string, number | null>()
  return (nowMs) => {
    for (const { id, status, settlesAtS, rollbackOf, items } of steam.world().trades) {
      if (status !== TRADE.complete || settlesAtS === 0 || rollbackOf !== undefined) continue
      const atMs = plans.get(id)
      if (atMs === undefined) {
        plans.set(id, random.chance(TAKEN_BACK) ? nowMs + random.int(MOST_REGRET_MS) : null)
      } else if (atMs !== null && nowMs >= atMs) {
        const [first] = random.chance(TAKEN_IN_PART) ? items : []
        const onlyFirst = first === undefined ? {} : { assetIds: [first.assetId] }
        steam.change((world, nowS) => reverseTrade(world, { tradeId: id, ...onlyFirst }, nowS))
        plans.set(id, null)
      }
    }
  }
}
