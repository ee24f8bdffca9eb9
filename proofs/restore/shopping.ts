/** A shopper who pays again and again, and a store that reads its event log by cursor. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { Game } from '../../contract/games.ts'
import { eventListSchema, type WebhookEvent } from '../../contract/webhooks.ts'
import { STATE } from '../../steam-sandbox/world/world.ts'
import { openVisit, requestTrade, showItems } from '../kill/load.ts'
import type { ProcessTill } from '../kill/till.ts'

const GAMES: readonly Game[] = ['dota', 'cs', 'rust', 'tf']
const CALL_MS = 10_000

export type Visit = { externalId: string; hash: string; offer: string }

/** Items that an earlier visit asked for. */
const usedItems = new Set<string>()

/** Takes a new deposit as far as an open offer. Resolves to undefined if the till did not get that far. */
export async function visit(till: ProcessTill, person: string): Promise<Visit | undefined> {
  const externalId = `visit-${randomUUID()}`
  const hash = await openVisit(till, externalId, person)
  if (hash === undefined) return undefined
  for (const game of GAMES) {
    const shown = await showItems(till, hash, game)
    const item = shown?.items.find(({ id, price }) => price > 0 && !usedItems.has(id))
    if (shown === undefined || item === undefined) continue
    const answer = await requestTrade(till, { hash, game, items: [item.id], quoteId: shown.quoteId })
    // Another offer is still open. Gives up for now, and keeps the item for another visit.
    if (answer === 'too_many_open_offers') return undefined
    usedItems.add(item.id)
    if (answer !== 'active') return undefined
    const offer = till.steam
      .as(person)
      .received()
      .find(({ state, items }) => state === STATE.active && items.some(({ assetId }) => assetId === item.id))
    return offer && { externalId, hash, offer: offer.id }
  }
  return undefined
}

/**
 * Pays again and again until `stop`, and collects the paid visits. `mostVisits` limits them: during a slow backup they
 * would otherwise use up all items of the person.
 */
export function startShopping(till: ProcessTill, person: string, mostVisits: number) {
  const stopping = new AbortController()
  const paid: Visit[] = []
  let limit = mostVisits
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const opened = paid.length < limit ? await visit(till, person) : undefined
      if (opened === undefined) await delay(100)
      else {
        till.steam.as(person).accept(opened.offer)
        paid.push(opened)
      }
    }
  })()
  return {
    paid,
    /** Allows this many visits in addition to those that were paid. */
    allow(further: number) {
      limit = paid.length + further
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

export type Reader = {
  cursor(): number
  /** The events that were read, by sequence. */
  events: Map<number, WebhookEvent>
  /** Sequences that two different events shared. */
  reusedSequences: number[]
  /** Reads to the end of the log. Resolves to the code of a refusal, or undefined. */
  catchUp(): Promise<string | undefined>
}

/** Creates a reader that relies on docs/store-guide.md: no event is missing before the last sequence that it read. */
export function startReader(till: ProcessTill): Reader {
  const events = new Map<number, WebhookEvent>()
  const reusedSequences: number[] = []
  let cursor = 0
  return {
    cursor: () => cursor,
    events,
    reusedSequences,
    async catchUp() {
      for (;;) {
        const answer = await callStore(till, { method: 'GET', path: `/v1/events?after=${cursor}` })
        if (answer.status !== 200) return z.object({ code: z.string() }).parse(await answer.json()).code
        const { events: page, next, hasMore } = eventListSchema.parse(await answer.json())
        for (const event of page) {
          const earlier = events.get(event.sequence)
          if (earlier !== undefined && earlier.id !== event.id) reusedSequences.push(event.sequence)
          events.set(event.sequence, event)
        }
        cursor = next
        if (!hasMore) return undefined
      }
    },
  }
}

type StoreCall = { method: 'GET' | 'POST'; path: string; body?: object }

export function callStore({ url, secrets }: ProcessTill, { method, path, body }: StoreCall) {
  return fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${secrets.apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(CALL_MS),
  })
}
