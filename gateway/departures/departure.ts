/** Items that left a bot by a trade, according to Steam's records. Pure. */
import type { MovedAsset, OfferAsset, SteamTrade } from '../steam/steam.ts'

/**
 * `under_way`: agreed, or in escrow. `gone`: the items left, and not all came back. `called_off`: the trade failed, so
 * no item left. `returned`: everything came back.
 */
export type Stage = 'under_way' | 'gone' | 'called_off' | 'returned'

/**
 * Why items may leave. `destination`: they went to an account in the operator's settings. `own_bot`: they went to
 * another bot of the till. `vault`: the vault reports that it gave them. `moved`: the operator had recorded the move
 * before. `operator`: an operator explained it afterwards.
 */
export type Explanation =
  | { kind: 'destination'; name: string }
  | { kind: 'own_bot' }
  | { kind: 'vault' }
  | { kind: 'moved' }
  | { kind: 'operator' }

/**
 * An item. `assetId` is its id in the bot's inventory, `newAssetId` its id in the partner's. `isBack`: it came back, or
 * Steam did not move it.
 */
export type DepartedItem = OfferAsset & { newAssetId: string | null; isBack: boolean }

export type Departure = {
  steamTradeId: string
  partnerSteamId: string
  begunAt: Date
  stage: Stage
  /** Null raises an alarm while some items are leaving or gone: nothing explains why they went there. */
  explanation: Explanation | null
  items: readonly DepartedItem[]
}

export type ReturnedItem = OfferAsset & {
  /** The asset id in the bot's inventory now. */
  as: string
}

export type DepartureEvent =
  | { kind: 'seen'; departure: Departure }
  | { kind: 'left'; items: readonly MovedAsset[] }
  | { kind: 'called_off' }
  | { kind: 'returned'; items: readonly ReturnedItem[] }

/** Everything that decides whether a departure is explained. */
export type Circumstances = {
  /** The partner's name among the destinations. */
  destination: string | undefined
  isOwnBot: boolean
  /** Whether the vault reports that it gives exactly these items to that account. */
  isVaultsGift: boolean
  /** Asset ids that the operator recorded as moved. */
  movedByHand: ReadonlySet<string>
}

export function judgeDeparture(
  known: Departure | undefined,
  steamTrade: SteamTrade,
  circumstances: Circumstances,
): DepartureEvent[] {
  // Undoing an earlier trade is no departure. The earlier trade's own record or `judgeUndoing` shows the return.
  if (steamTrade.given.length === 0 || steamTrade.rollbackOf !== null) return []
  // No item left, and no departure was reported.
  if (known === undefined && steamTrade.state === 'failed') return []
  const seenEvents: DepartureEvent[] =
    known === undefined ? [{ kind: 'seen', departure: newDepartureOf(steamTrade, circumstances) }] : []
  return [...seenEvents, ...progressOf(known, steamTrade)]
}

function newDepartureOf(steamTrade: SteamTrade, circumstances: Circumstances): Departure {
  const { tradeId: steamTradeId, partnerSteamId, begunAt, given } = steamTrade
  const items = given.map(({ rolledBackAssetId: _, ...asset }) => ({ ...asset, isBack: false }))
  const explanation = explain(given, circumstances)
  return { steamTradeId, partnerSteamId, begunAt, stage: 'under_way', explanation, items }
}

function explain(given: readonly MovedAsset[], circumstances: Circumstances): Explanation | null {
  const { destination, isOwnBot, isVaultsGift, movedByHand } = circumstances
  if (destination !== undefined) return { kind: 'destination', name: destination }
  if (isOwnBot) return { kind: 'own_bot' }
  if (isVaultsGift) return { kind: 'vault' }
  return given.every(({ assetId }) => movedByHand.has(assetId)) ? { kind: 'moved' } : null
}

function progressOf(known: Departure | undefined, steamTrade: SteamTrade): DepartureEvent[] {
  const { state, given } = steamTrade
  const stage = known?.stage ?? 'under_way'
  const leftEvents: DepartureEvent[] = stage === 'under_way' ? [{ kind: 'left', items: given }] : []
  switch (state) {
    case 'pending':
    case 'in_escrow':
      return []
    case 'committed':
      return given.every(({ newAssetId }) => newAssetId !== null) ? leftEvents : []
    case 'complete':
      return leftEvents
    case 'failed':
      // After a failed rollback, the items that are gone stay gone.
      return stage === 'under_way' ? [{ kind: 'called_off' }] : []
    case 'abandoned': {
      const movedItems = given.filter(({ newAssetId }) => newAssetId !== null)
      if (movedItems.length === 0) return []
      const undoneItems = movedItems.filter(({ rolledBackAssetId }) => rolledBackAssetId !== null)
      return [
        ...(stage === 'under_way' ? [{ kind: 'left', items: movedItems } as const] : []),
        ...returnOf(known, undoneItems),
      ]
    }
    case 'rolled_back':
      return [...leftEvents, ...returnOf(known, given)]
    case 'partly_rolled_back': {
      const undoneItems = given.filter(({ rolledBackAssetId }) => rolledBackAssetId !== null)
      return [...leftEvents, ...returnOf(known, undoneItems)]
    }
    default:
      return state satisfies never
  }
}

/** Returns the event of the given items that had not come back before; no event if there are none. */
function returnOf(known: Departure | undefined, given: readonly MovedAsset[]): DepartureEvent[] {
  const returnedKeys = new Set(known?.items.filter(({ isBack }) => isBack).map(keyOf))
  const newlyReturned = given.filter((asset) => !returnedKeys.has(keyOf(asset)))
  if (newlyReturned.length === 0) return []
  const items = newlyReturned.map(({ appId, contextId, assetId, rolledBackAssetId }) => {
    return { appId, contextId, assetId, as: rolledBackAssetId ?? assetId }
  })
  return [{ kind: 'returned', items }]
}

/**
 * Items that a destination sent to a bot. Items from another bot of ours are booked from that bot's history. All others
 * belong to a deposit, or do not concern the till.
 */
export function itemsSentBack(steamTrade: SteamTrade, destination: string | undefined): MovedAsset[] {
  const { state, rollbackOf, received } = steamTrade
  const hasArrived = state === 'complete' || state === 'committed'
  if (destination === undefined || rollbackOf !== null || !hasArrived) return []
  return received.filter(({ newAssetId }) => newAssetId !== null)
}

/**
 * Judges a Steam trade that undoes a departure to another bot of ours. It is read from the history of the bot that had
 * received the items, because the other bot's history may no longer be readable.
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

/**
 * A change of custody. `in`: the bot got the item. `back`: its shopper took it back. `out`: it left the bot in another
 * way. `departure`: its cause; null for a delivery, for what a shopper took back, and for a move that an operator
 * recorded.
 */
export type CustodyChange<Id> = { moved: 'in' | 'back' | 'out'; botId: bigint; departure: Id | null }

/** A departure by which an item left the bot. */
export type LaterDeparture<Id> = { departure: Id; botId: bigint }

/**
 * The departures that took an item further after the departure `id`, the last one first. Undefined if the departure
 * `id` is not why the item is away. Steam undoes a trade only after the later ones. So once the departure `id` is
 * undone, all of these are too, in whatever order the till reads them.
 */
export function laterDepartures<Id>(
  changes: readonly CustodyChange<Id>[],
  id: Id,
): LaterDeparture<Id>[] | undefined {
  const away: LaterDeparture<Id>[] = []
  for (const [place, { moved, botId, departure }] of changes.entries()) {
    const index = away.findIndex((each) => each.departure === departure)
    if (departure === null) away.length = 0
    else if (index === -1) {
      // Without its own entry `out`, a departure began at the bot of the entry before, an operator's record.
      away.push({ departure, botId: moved === 'out' ? botId : (changes[place - 1]?.botId ?? botId) })
    }
    // The item came back to the bot that it had left by that departure.
    else if (moved === 'in' && away[index]?.botId === botId) away.length = index
  }
  const index = away.findIndex(({ departure }) => departure === id)
  return index === -1 ? undefined : away.slice(index + 1).reverse()
}

export const keyOf = ({ appId, assetId }: Pick<OfferAsset, 'appId' | 'assetId'>): string =>
  `${appId}/${assetId}`

export function evolve(departure: Departure | undefined, event: DepartureEvent): Departure {
  if (event.kind === 'seen') return event.departure
  if (departure === undefined) throw new Error('the first event of a departure must be of the kind seen')
  switch (event.kind) {
    case 'left': {
      const newAssetIds = new Map(event.items.map((asset) => [keyOf(asset), asset.newAssetId]))
      const items = departure.items.map((item) => ({
        ...item,
        newAssetId: newAssetIds.get(keyOf(item)) ?? null,
        isBack: !newAssetIds.has(keyOf(item)),
      }))
      return { ...departure, stage: 'gone', items }
    }
    case 'called_off':
      return { ...departure, stage: 'called_off' }
    case 'returned': {
      const returnedKeys = new Set(event.items.map(keyOf))
      const items = departure.items.map((item) => ({
        ...item,
        isBack: item.isBack || returnedKeys.has(keyOf(item)),
      }))
      return { ...departure, stage: items.every(({ isBack }) => isBack) ? 'returned' : 'gone', items }
    }
    default:
      return event satisfies never
  }
}

/** Steam ids, by the names that the operator gave them. */
export type Destinations = ReadonlyMap<string, string>

export function destinationOf(destinations: Destinations, steamId: string): string | undefined {
  for (const [name, id] of destinations) if (id === steamId) return name
  return undefined
}
