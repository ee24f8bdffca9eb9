/** Shoppers of the fleet's bench. All shoppers of a wave arrive at once, each as a guest of the sandbox. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { type Inventory, inventorySchema } from '../contract/widget-api.ts'
import { call, openVisit } from '../proofs/kill/load.ts'
import type { ProcessTill } from '../proofs/kill/till.ts'
import { STATE } from '../steam-sandbox/world/world.ts'

/** The account of the sandbox whose inventory each guest copies. */
const MODEL_ACCOUNT = 'quiet_lynx'
const GAME = 'cs'
/** Shoppers wait up to this long before accepting, so the offers of a wave are open at the same time. */
const THOUGHT_MS = 40_000
const CHECK_CREDITS_EVERY_MS = 100
const ASK_AGAIN_MS = 250
const CALL_MS = 25_000
const READ_ITEMS_AGAIN_MS = 5_000

export type Visit = {
  number: number
  hash: string | undefined
  /** True if the shopper's page becomes visible again after the acceptance. */
  returns: boolean
  /** Why the visit failed, such as the code of a refused offer; undefined if it did not. */
  refusal: string | undefined
  /** Seconds until the offer was made or refused. */
  offerTookS: number
  /** The bot's Steam id. */
  bot: string | undefined
  /** When the shopper accepted, in monotonic milliseconds. */
  acceptedMs: number | undefined
  creditedMs: number | undefined
}

export type Credits = {
  /**
   * Sets `creditedMs`, in monotonic milliseconds, of each visit whose offer was accepted. Resolves once all these
   * visits are credited, or after `withinMs`.
   */
  waitForAll(visits: readonly Visit[], withinMs: number): Promise<void>
  end(): Promise<void>
}

export function watchCredits({ pool }: ProcessTill): Credits {
  /** When the deposit with each hash was seen as succeeded, in monotonic milliseconds. */
  const seen = new Map<string, number>()
  const ending = new AbortController()
  const checkCredits = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const { rows } = await pool.query<{ hash: string }>(
        `select hash from deposit where status = 'succeeded' and not hash = any($1)`,
        [[...seen.keys()]],
      )
      for (const { hash } of rows) seen.set(hash, performance.now())
      await delay(CHECK_CREDITS_EVERY_MS)
    }
  }
  const checking = checkCredits().catch((error: unknown) => {
    if (!ending.signal.aborted) console.error(error)
  })
  return {
    async waitForAll(visits, withinMs) {
      const endMs = performance.now() + withinMs
      for (const visit of visits) {
        if (visit.acceptedMs === undefined || visit.hash === undefined) continue
        while (!seen.has(visit.hash) && performance.now() < endMs) await delay(CHECK_CREDITS_EVERY_MS)
        visit.creditedMs = seen.get(visit.hash)
      }
    },
    async end() {
      ending.abort()
      await checking
    },
  }
}

/** `patienceMs`: how long a shopper waits for the items, and then for the offer. */
type Wave = { shoppers: number; patienceMs: number }

/** Resolves once each visit has ended: its offer was accepted, or it failed. */
export function playWave(till: ProcessTill, { shoppers, patienceMs }: Wave): Promise<Visit[]> {
  const guests = Array.from({ length: shoppers }, () => till.steam.invite(MODEL_ACCOUNT))
  return Promise.all(guests.map(({ steamId }, number) => visit(till, { steamId, number, patienceMs })))
}

type Guest = { steamId: string; number: number; patienceMs: number }

async function visit(till: ProcessTill, guest: Guest): Promise<Visit> {
  const { number } = guest
  const record: Visit = {
    number,
    hash: undefined,
    // The shoppers use the two gateways alternately, so this is half of the shoppers of each gateway.
    returns: number % 4 < 2,
    refusal: undefined,
    offerTookS: 0,
    bot: undefined,
    acceptedMs: undefined,
    creditedMs: undefined,
  }
  try {
    await pay({ ...till, url: till.urls[number % till.urls.length] ?? till.url }, guest, record)
  } catch (error) {
    // An answer can be cut off, for example on a busy machine. One shopper must not end the whole bench.
    record.refusal ??= error instanceof Error ? error.message : String(error)
  }
  return record
}

/** Plays one visit, and notes in `record` how far it got. */
async function pay(till: ProcessTill, { steamId, patienceMs }: Guest, record: Visit): Promise<void> {
  const hash = await openVisit(till, randomUUID(), steamId)
  record.hash = hash
  if (hash === undefined) throw new Error('no deposit')
  const shown = await readItems(till, hash, patienceMs)
  const dearest = shown.items.sort((a, b) => b.price - a.price)[0]
  if (dearest === undefined) throw new Error('no items were shown')
  const beganMs = performance.now()
  const request = { hash, game: GAME, items: [dearest.id], quoteId: shown.quoteId }
  record.refusal = await askFor(till, request, patienceMs)
  record.offerTookS = (performance.now() - beganMs) / 1_000
  if (record.refusal !== undefined) return
  await delay(Math.random() * THOUGHT_MS)
  await accept(till, steamId, record)
}

/** Reads the items as the page does, repeatedly until some have a price. */
async function readItems(till: ProcessTill, hash: string, patienceMs: number): Promise<Inventory> {
  const endMs = performance.now() + patienceMs
  let refusal = 'no answer'
  while (performance.now() < endMs) {
    const answer = await makeCall(till, `/api/inventory?hash=${hash}&game=${GAME}`)
    if (answer?.ok) {
      const shown = inventorySchema.parse(await answer.json())
      if (shown.items.length > 0) return shown
      refusal = shown.inventoryErrorType ?? 'no item has a price'
    } else if (answer !== undefined) refusal = String(answer.status)
    await delay(READ_ITEMS_AGAIN_MS)
  }
  throw new Error(`no items were shown: ${refusal}`)
}

const refusalSchema = z.object({ code: z.string() })

/**
 * Asks for the offer, and repeats the call while the answer is undecided or lost. Resolves to the code of a refusal, or
 * to "no answer in time"; undefined once the offer is made.
 */
async function askFor(till: ProcessTill, body: object, patienceMs: number): Promise<string | undefined> {
  const endMs = performance.now() + patienceMs
  while (performance.now() < endMs) {
    const answer = await makeCall(till, '/api/trade', body)
    if (answer?.status === 200) return undefined
    if (answer !== undefined && answer.status !== 202) return refusalSchema.parse(await answer.json()).code
    await delay(ASK_AGAIN_MS)
  }
  return 'no answer in time'
}

/** Resolves to undefined if no answer comes. */
async function makeCall({ url }: ProcessTill, path: string, body?: object): Promise<Response | undefined> {
  // Any token of this length will do, if the cookie and the header have the same.
  const token = 'k'.repeat(43)
  const headers = { cookie: `csrf=${token}`, 'x-csrf-token': token, origin: url }
  const json = { ...headers, 'content-type': 'application/json' }
  const init =
    body === undefined ? { headers } : { method: 'POST', headers: json, body: JSON.stringify(body) }
  try {
    return await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(CALL_MS) })
  } catch {
    return undefined
  }
}

async function accept(till: ProcessTill, steamId: string, record: Visit): Promise<void> {
  const account = till.steam.as(steamId)
  const offer = account.received().find(({ state }) => state === STATE.active)
  if (offer === undefined) throw new Error('the offer is not open')
  account.accept(offer.id)
  record.bot = offer.sender
  record.acceptedMs = performance.now()
  // Asks without an earlier answer, like a page that becomes visible again.
  if (record.returns) await call(till, `/api/payment?hash=${record.hash}`)
}
