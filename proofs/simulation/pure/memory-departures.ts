/** Departures in memory, and the custody of what left. */
import { type Departure, type DepartureEvent, evolve } from '../../../gateway/departures/departure.ts'
import type { DepartureStore, Noted } from '../../../gateway/departures/watch.ts'
import type { OfferAsset, SteamTrade } from '../../../gateway/steam/steam.ts'
import { hold } from '../violation.ts'
import { everHeld, type Memory, type Pause } from './memory.ts'

/** `begunAt`: when the simulated till began. */
export function createMemoryDepartures(memory: Memory, pause: Pause, begunAt: Date): DepartureStore {
  const read = <T>(what: () => T): Promise<T> => pause(1, 10).then(what)
  return {
    watchedFrom: (botId) => read(() => (everHeld(memory, botId) ? begunAt : undefined)),
    known: (botId, ids) =>
      read(() => new Map([...departuresOf(memory, botId)].filter(([id]) => ids.includes(id)))),
    underWay: (botId, limit) =>
      read(() => {
        const open = [...departuresOf(memory, botId).values()].filter(({ stage }) => stage === 'under_way')
        return open.slice(0, limit).map(({ steamTradeId }) => steamTradeId)
      }),
    async note(botId, exchange, judge) {
      await pause(1, 10)
      const noted = note(memory, { botId, exchange, judge })
      await pause(1, 10)
      return noted
    },
    // Nobody sends anything back in this world.
    bringBack: async () => 0,
    async bookLate(botId) {
      await pause(1, 10)
      for (const { stage, items } of departuresOf(memory, botId).values()) {
        if (stage !== 'gone' && stage !== 'returned') continue
        const left = items.filter(({ isBack }) => !isBack)
        for (const asset of left)
          if (stateOf(memory, botId, asset) === 'in') book(memory, { botId, asset, to: 'out' })
      }
    },
  }
}

function departuresOf({ departures }: Memory, botId: bigint): Map<string, Departure> {
  const known = departures.get(botId) ?? new Map<string, Departure>()
  departures.set(botId, known)
  return known
}

type Noting = { botId: bigint; exchange: SteamTrade; judge: Parameters<DepartureStore['note']>[2] }

function note(memory: Memory, { botId, exchange, judge }: Noting): Noted | undefined {
  const known = departuresOf(memory, botId)
  const before = known.get(exchange.tradeId)
  const events = judge(before, { isOwnBot: false, movedByHand: new Set() })
  const departure = events.reduce<Departure | undefined>(evolve, before)
  if (events.length === 0 || departure === undefined) return undefined
  known.set(exchange.tradeId, departure)
  for (const event of events) apply(memory, botId, event)
  const items = departure.items.filter((asset) => stateOf(memory, botId, asset) !== undefined).length
  return { events, departure, items }
}

function apply(memory: Memory, botId: bigint, event: DepartureEvent): void {
  if (event.kind === 'left') for (const asset of event.items) book(memory, { botId, asset, to: 'out' })
  if (event.kind === 'returned') for (const asset of event.items) book(memory, { botId, asset, to: 'in' })
}

/** The key of the custody of what the bot calls so. */
function custodyKey({ trades }: Memory, botId: bigint, { assetId }: Pick<OfferAsset, 'assetId'>) {
  for (const { facts, items } of trades.values()) {
    if (facts.botId !== botId) continue
    for (const [given, { receivedAssetId }] of items) {
      if (receivedAssetId === assetId) return `${facts.id}/${given}`
    }
  }
  return undefined
}

const stateOf = (memory: Memory, botId: bigint, asset: Pick<OfferAsset, 'assetId'>) =>
  memory.custody.get(custodyKey(memory, botId, asset) ?? '')

type Booking = { botId: bigint; asset: Pick<OfferAsset, 'assetId'>; to: 'in' | 'out' }

/** Items that came before their delivery was known are booked later. */
function book(memory: Memory, { botId, asset, to }: Booking): void {
  const key = custodyKey(memory, botId, asset)
  const was = memory.custody.get(key ?? '')
  if (key === undefined || was === undefined) return
  hold(was === (to === 'out' ? 'in' : 'out'), 'I13', () => `custody of ${key}: from ${was} to ${to}`)
  memory.custody.set(key, to)
}
