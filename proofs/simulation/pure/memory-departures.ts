/** Departures in memory, with the custody of their items. Mirrors departures/{store,books-store,returns-store}.ts. */
import {
  type Departure,
  type DepartureEvent,
  evolve,
  keyOf,
  laterDepartures,
} from '../../../gateway/departures/departure.ts'
import type { DepartureStore, NotedDeparture } from '../../../gateway/departures/watch.ts'
import type { OfferAsset, SteamTrade } from '../../../gateway/steam/steam.ts'
import { type CustodyEntry, hasEverHadItem, type Pause, type TillMemory } from './memory.ts'

/** `begunAt`: the start of the simulated till. */
export function createMemoryDepartures(memory: TillMemory, pause: Pause, begunAt: Date): DepartureStore {
  const read = <T>(what: () => T): Promise<T> => pause(1, 10).then(what)
  return {
    watchedFrom: (botId) => read(() => (hasEverHadItem(memory, botId) ? begunAt : undefined)),
    findDepartures: (botId, ids) =>
      read(() => new Map([...departuresOf(memory, botId)].filter(([id]) => ids.includes(id)))),
    underWay: (botId, { limit, after }) =>
      read(() => {
        const open = [...departuresOf(memory, botId).values()].filter(({ stage }) => stage === 'under_way')
        const ids = open.map(({ steamTradeId }) => steamTradeId).toSorted()
        const isBeyond = (id: string) => id > after
        return [...ids.filter(isBeyond), ...ids.filter((id) => !isBeyond(id))].slice(0, limit)
      }),
    async noteDeparture(botId, steamTrade, judge) {
      await pause(1, 10)
      const noted = noteDeparture(memory, { botId, steamTrade, judge })
      await pause(1, 10)
      return noted
    },
    async bookSentBack(botId, { steamTradeId, received }) {
      await pause(1, 10)
      if ([...memory.trades.values()].some(({ deliveredBy }) => deliveredBy === steamTradeId)) return 0
      for (const { appId, assetId, newAssetId } of received) {
        const isKnown = memory.sentBack.some((sent) => sent.as === newAssetId && sent.botId === botId)
        if (!isKnown && newAssetId !== null) memory.sentBack.push({ botId, appId, assetId, as: newAssetId })
      }
      return bookReturns(memory)
    },
    async bookGivenBack(botId, steamTrade, judge) {
      await pause(1, 10)
      return bookUndoing(memory, { botId, steamTrade, judge })
    },
    async bookLate(botId) {
      await pause(1, 10)
      const departures = [...departuresOf(memory, botId).values()]
      for (const departure of departures.sort(
        (one, other) => one.begunAt.getTime() - other.begunAt.getTime(),
      )) {
        const { stage, items, steamTradeId, partnerSteamId } = departure
        if (stage !== 'gone' && stage !== 'returned') continue
        const booking = {
          id: idOf(botId, steamTradeId),
          botId,
          otherBotId: ownBot(memory, botId, partnerSteamId),
        }
        for (const item of items) {
          if (!item.isBack && !memory.booked.has(`${booking.id} ${keyOf(item)}`))
            bookOut(memory, booking, item)
        }
      }
      bookReturns(memory)
    },
  }
}

export function departuresOf({ departures }: TillMemory, botId: bigint): Map<string, Departure> {
  const known = departures.get(botId) ?? new Map<string, Departure>()
  departures.set(botId, known)
  return known
}

const idOf = (botId: bigint, steamTradeId: string): string => `${botId}/${steamTradeId}`

function ownBot({ bots }: TillMemory, botId: bigint, steamId: string): bigint | undefined {
  const other = bots.get(BigInt(steamId))
  return other === undefined || other.botId === botId || other.state === 'retired' ? undefined : other.botId
}

type Noting = { botId: bigint; steamTrade: SteamTrade; judge: Parameters<DepartureStore['noteDeparture']>[2] }

function noteDeparture(memory: TillMemory, { botId, steamTrade, judge }: Noting): NotedDeparture | undefined {
  const departures = departuresOf(memory, botId)
  const earlier = departures.get(steamTrade.tradeId)
  const otherBotId = ownBot(memory, botId, steamTrade.partnerSteamId)
  const events = judge(earlier, {
    isOwnBot: otherBotId !== undefined,
    isVaultsGift: false,
    movedByHand: new Set(),
  })
  const departure = events.reduce<Departure | undefined>(evolve, earlier)
  if (events.length === 0 || departure === undefined) return undefined
  departures.set(steamTrade.tradeId, departure)
  const booking = { id: idOf(botId, steamTrade.tradeId), botId, otherBotId }
  for (const event of events) book(memory, booking, event)
  const items = departure.items.filter((asset) => custodyOf(memory, botId, asset) !== undefined).length
  return { events, departure, items }
}

type Undoing = {
  botId: bigint
  steamTrade: SteamTrade
  judge: Parameters<DepartureStore['bookGivenBack']>[2]
}

function bookUndoing(memory: TillMemory, { botId, steamTrade, judge }: Undoing): number {
  const steamTradeId = steamTrade.rollbackOf ?? ''
  let items = 0
  for (const [fromBotId, departures] of memory.departures) {
    const earlier = departures.get(steamTradeId)
    if (earlier === undefined || fromBotId === botId || earlier.partnerSteamId !== String(botId)) continue
    for (const event of judge(earlier)) {
      const departure = evolve(earlier, event)
      departures.set(steamTradeId, departure)
      const booking = { id: idOf(fromBotId, steamTradeId), botId: fromBotId, otherBotId: botId }
      book(memory, booking, event)
      if (event.kind === 'returned') items += event.items.length
    }
  }
  return items
}

type Booking = { id: string; botId: bigint; otherBotId: bigint | undefined }

function book(memory: TillMemory, booking: Booking, event: DepartureEvent): void {
  if (event.kind === 'left') for (const asset of event.items) bookOut(memory, booking, asset)
  if (event.kind === 'returned') for (const asset of event.items) bookBack(memory, booking, asset)
}

/** The custody entries of the item that once had this asset id at the bot. */
function custodyOf({ custody }: TillMemory, botId: bigint, { assetId }: Pick<OfferAsset, 'assetId'>) {
  for (const entries of custody.values()) {
    const wasThisItem = entries.some(
      (entry) => entry.moved === 'in' && entry.botId === botId && entry.as === assetId,
    )
    if (wasThisItem) return entries
  }
  return undefined
}

type Move = Pick<CustodyEntry, 'moved' | 'botId' | 'as' | 'departure'>

function move({ engine }: TillMemory, entries: CustodyEntry[], entry: Move): void {
  entries.push({ ...entry, at: new Date(engine.now()) })
}

type DepartedAsset = OfferAsset & { newAssetId: string | null }

function bookOut(memory: TillMemory, { id, botId, otherBotId }: Booking, asset: DepartedAsset): void {
  const entries = custodyOf(memory, botId, asset)
  const last = entries?.at(-1)
  if (entries === undefined || last === undefined) return
  if (last.moved !== 'in' || last.botId !== botId) return
  if (beganMsOf(memory, last.departure) > beganMsOf(memory, id)) return
  if (last.as !== null && last.as !== asset.assetId) return
  memory.booked.add(`${id} ${keyOf(asset)}`)
  move(memory, entries, { moved: 'out', botId, as: asset.assetId, departure: id })
  if (otherBotId === undefined) return
  move(memory, entries, { moved: 'in', botId: otherBotId, as: asset.newAssetId, departure: id })
}

/** When the departure began, in milliseconds; 0 for a delivery. */
function beganMsOf({ departures }: TillMemory, id: string | null): number {
  const [botId = '0', steamTradeId = ''] = id?.split('/') ?? []
  return departures.get(BigInt(botId))?.get(steamTradeId)?.begunAt.getTime() ?? 0
}

function bookBack(memory: TillMemory, booking: Booking, asset: OfferAsset & { as: string }): void {
  const { id, botId } = booking
  const entries = custodyOf(memory, botId, asset)
  if (entries === undefined || entries.at(-1)?.moved === 'back') return
  const since = laterDepartures(entries, id)
  if (since === undefined) return
  for (const { departure, botId: from } of since)
    giveBack(memory, entries, { botId: from, as: null, departure })
  giveBack(memory, entries, { botId, as: asset.as, departure: id })
}

function giveBack(memory: TillMemory, entries: CustodyEntry[], to: Omit<Move, 'moved'>): void {
  const last = entries.at(-1)
  if (last?.moved === 'in') move(memory, entries, { ...to, moved: 'out', botId: last.botId, as: null })
  move(memory, entries, { ...to, moved: 'in' })
}

/** Books items that left for an account of the operator and were sent back to a bot. Returns the number of items. */
function bookReturns(memory: TillMemory): number {
  let items = 0
  for (const { botId: to, appId, assetId, as } of memory.sentBack) {
    for (const [from, departures] of memory.departures) {
      for (const [steamTradeId, departure] of departures) {
        const item = departure.items.find(
          (each) => each.newAssetId === assetId && each.appId === appId && !each.isBack,
        )
        if (departure.stage !== 'gone' || item === undefined) continue
        const entries = custodyOf(memory, from, item)
        const id = idOf(from, steamTradeId)
        const last = entries?.at(-1)
        if (entries === undefined || last?.moved !== 'out' || last.departure !== id) continue
        departures.set(steamTradeId, evolve(departure, { kind: 'returned', items: [{ ...item, as }] }))
        move(memory, entries, { moved: 'in', botId: to, as, departure: id })
        items += 1
      }
    }
  }
  return items
}
