/** Items that left a bot by a trade, as Steam's records tell of it. Pure. */
import type { MovedAsset, OfferAsset, SteamTrade } from '../steam/steam.ts'

/**
 * `under_way`: agreed, or held by Steam. `called_off`: nothing left after all. `returned`: everything came back.
 */
export type Stage = 'under_way' | 'gone' | 'called_off' | 'returned'

/**
 * Why items may leave. `vault`: the vault says that it gave them. `moved`: the operator had recorded it before. `operator`:
 * on an operator's word, afterwards.
 */
export type Explanation =
  | { kind: 'destination'; name: string }
  | { kind: 'own_bot' }
  | { kind: 'vault' }
  | { kind: 'moved' }
  | { kind: 'operator' }

/** An item as the bot had it. */
export type DepartedItem = OfferAsset & { newAssetId: string | null; isBack: boolean }

export type Departure = {
  steamTradeId: string
  partnerSteamId: string
  begunAt: Date
  stage: Stage
  /** Null is an alarm: nobody said that items may go there. */
  explanation: Explanation | null
  items: readonly DepartedItem[]
}

export type ReturnedItem = OfferAsset & {
  /** Its id in the bot's inventory now. */
  as: string
}

export type DepartureEvent =
  | { kind: 'seen'; departure: Departure }
  | { kind: 'left'; items: readonly MovedAsset[] }
  | { kind: 'called_off' }
  | { kind: 'returned'; items: readonly ReturnedItem[] }

/** All that decides whether a departure is explained. */
export type Around = {
  /** The name of the partner among the destinations. */
  destination: string | undefined
  isOwnBot: boolean
  /** The vault says that it gives exactly this to that account. */
  isVaultsGift: boolean
  /** Asset ids that the operator recorded as moved. */
  movedByHand: ReadonlySet<string>
}

export function judgeDeparture(
  known: Departure | undefined,
  steamTrade: SteamTrade,
  around: Around,
): DepartureEvent[] {
  // The row that undoes a delivery gives back what came: its delivery tells of that.
  if (steamTrade.given.length === 0 || steamTrade.rollbackOf !== null) return []
  // Nothing left, and nobody was told of it.
  if (known === undefined && steamTrade.state === 'failed') return []
  const begun: DepartureEvent[] =
    known === undefined ? [{ kind: 'seen', departure: beginningOf(steamTrade, around) }] : []
  return [...begun, ...progressOf(known, steamTrade)]
}

function beginningOf(steamTrade: SteamTrade, around: Around): Departure {
  const { tradeId: steamTradeId, partnerSteamId, begunAt, given } = steamTrade
  const items = given.map(({ rolledBackAssetId: _, ...asset }) => ({ ...asset, isBack: false }))
  const explanation = explain(given, around)
  return { steamTradeId, partnerSteamId, begunAt, stage: 'under_way', explanation, items }
}

function explain(given: readonly MovedAsset[], around: Around): Explanation | null {
  const { destination, isOwnBot, isVaultsGift, movedByHand } = around
  if (destination !== undefined) return { kind: 'destination', name: destination }
  if (isOwnBot) return { kind: 'own_bot' }
  if (isVaultsGift) return { kind: 'vault' }
  return given.every(({ assetId }) => movedByHand.has(assetId)) ? { kind: 'moved' } : null
}

function progressOf(known: Departure | undefined, steamTrade: SteamTrade): DepartureEvent[] {
  const { state, given } = steamTrade
  const stage = known?.stage ?? 'under_way'
  const left: DepartureEvent[] = stage === 'under_way' ? [{ kind: 'left', items: given }] : []
  switch (state) {
    case 'pending':
    case 'in_escrow':
      return []
    case 'committed':
      return given.every(({ newAssetId }) => newAssetId !== null) ? left : []
    case 'complete':
      return left
    case 'failed':
      // A rollback that failed leaves what is gone where it is.
      return stage === 'under_way' ? [{ kind: 'called_off' }] : []
    case 'rolled_back':
      return [...left, ...returnOf(known, given)]
    case 'partly_rolled_back': {
      const marked = given.filter(({ rolledBackAssetId }) => rolledBackAssetId !== null)
      return [...left, ...returnOf(known, marked)]
    }
    default:
      return state satisfies never
  }
}

/** Of those that are not back yet. */
function returnOf(known: Departure | undefined, given: readonly MovedAsset[]): DepartureEvent[] {
  const back = new Set(known?.items.filter(({ isBack }) => isBack).map(keyOf))
  const news = given.filter((asset) => !back.has(keyOf(asset)))
  if (news.length === 0) return []
  const items = news.map(({ appId, contextId, assetId, rolledBackAssetId }) => {
    return { appId, contextId, assetId, as: rolledBackAssetId ?? assetId }
  })
  return [{ kind: 'returned', items }]
}

/** Items that an account of the operator sent to a bot. Those of anybody else are a deposit, or none of the till's. */
export function sentBack(steamTrade: SteamTrade, destination: string | undefined): MovedAsset[] {
  const { state, rollbackOf, received } = steamTrade
  const isThere = state === 'complete' || state === 'committed'
  if (destination === undefined || rollbackOf !== null || !isThere) return []
  return received.filter(({ newAssetId }) => newAssetId !== null)
}

/**
 * Items that a bot of ours gave back to another one of ours, as the history of the bot that had got it tells. Nobody may be able
 * to read the history of the other one any more.
 */
export function judgeUndoing(known: Departure, { state, given }: SteamTrade): DepartureEvent[] {
  if (known.stage !== 'gone' || (state !== 'complete' && state !== 'committed')) return []
  const backAs = new Map(
    given.map(({ appId, assetId, newAssetId }) => [keyOf({ appId, assetId }), newAssetId]),
  )
  const items = known.items.flatMap(({ appId, contextId, assetId, newAssetId, isBack }): ReturnedItem[] => {
    const key = keyOf({ appId, assetId: newAssetId ?? '' })
    return isBack || !backAs.has(key) ? [] : [{ appId, contextId, assetId, as: backAs.get(key) ?? assetId }]
  })
  return items.length === 0 ? [] : [{ kind: 'returned', items }]
}

/** A change of hands in the books. `departure`: by which it was; null of a delivery, and of what an operator recorded. */
export type Hand<Id> = { moved: 'in' | 'back' | 'out'; botId: bigint; departure: Id | null }

/** A departure by which an item left this bot. */
export type Taking<Id> = { departure: Id; botId: bigint }

/**
 * The departures that took an item on after this one did, the last first; undefined where it is not away by this one. Steam
 * undoes a trade only once those after it are undone, but chance decides which of them is read first: with this one all of
 * these are undone.
 */
export function takenOnSince<Id>(hands: readonly Hand<Id>[], id: Id): Taking<Id>[] | undefined {
  const away: Taking<Id>[] = []
  for (const { moved, botId, departure } of hands) {
    const at = away.findIndex((taking) => taking.departure === departure)
    if (departure === null) away.length = 0
    else if (at === -1 && moved === 'out') away.push({ departure, botId })
    // It came to another bot by it, or back to this one.
    else if (moved === 'in' && away[at]?.botId === botId) away.length = at
  }
  const at = away.findIndex(({ departure }) => departure === id)
  return at === -1 ? undefined : away.slice(at + 1).reverse()
}

export const keyOf = ({ appId, assetId }: Pick<OfferAsset, 'appId' | 'assetId'>): string =>
  `${appId}/${assetId}`

export function evolve(departure: Departure | undefined, event: DepartureEvent): Departure {
  if (event.kind === 'seen') return event.departure
  if (departure === undefined) throw new Error('a departure begins with being seen')
  switch (event.kind) {
    case 'left': {
      const moved = new Map(event.items.map((asset) => [keyOf(asset), asset.newAssetId]))
      const items = departure.items.map((item) => ({ ...item, newAssetId: moved.get(keyOf(item)) ?? null }))
      return { ...departure, stage: 'gone', items }
    }
    case 'called_off':
      return { ...departure, stage: 'called_off' }
    case 'returned': {
      const back = new Set(event.items.map(keyOf))
      const items = departure.items.map((item) => ({ ...item, isBack: item.isBack || back.has(keyOf(item)) }))
      return { ...departure, stage: items.every(({ isBack }) => isBack) ? 'returned' : 'gone', items }
    }
    default:
      return event satisfies never
  }
}

/** Steam ids by the names that the operator gave them. */
export type Destinations = ReadonlyMap<string, string>

export function destinationOf(destinations: Destinations, steamId: string): string | undefined {
  for (const [name, id] of destinations) if (id === steamId) return name
  return undefined
}
