import { GAME_FACTS, type Game } from '../../contract/games.ts'
import { MOST_UNAVAILABLE_NAMES } from '../../contract/limits.ts'
import type { UnavailableReason } from '../../contract/statuses.ts'
import type { Item } from '../../contract/widget-api.ts'
import { phaseOf } from '../pricing/phase.ts'
import type { PriceList } from '../pricing/service.ts'
import type { Restriction, SteamItem } from '../steam/steam.ts'
import { isUnusual, itemFacts, nameOf } from './item.ts'
import type { QuotedItem } from './quote-store.ts'

export type OfferedItems = {
  /** The items as shown and as quoted, both in Steam's order. */
  shown: Item[]
  quoted: QuotedItem[]
  unavailableItems: number
  unavailableByReason: Partial<Record<UnavailableReason, number>>
  /** At most MOST_UNAVAILABLE_NAMES names for each reason. Undefined if every item is accepted. */
  unavailableNames?: Partial<Record<UnavailableReason, string[]>>
  /** How many items have each of these names. */
  unavailableCounts?: Partial<Record<UnavailableReason, number[]>>
  /** The ends of Steam's temporary restrictions on items: ISO 8601, unordered. */
  restrictedUntil: string[]
}

type Circumstances = {
  game: Game
  prices: Pick<PriceList, 'priceOf' | 'priceOfPhase'>
  /** Asset ids that are part of another trade. */
  taken: ReadonlySet<string>
  /** Origin of Steam's image host, without a slash at the end. */
  imageBase: string
  now: Date
}

/** Separates the accepted items from the others. An asset id that is repeated counts once. Pure. */
export function offeredOf(items: readonly SteamItem[], circumstances: Circumstances): OfferedItems {
  const { appId, contextId } = GAME_FACTS[circumstances.game]
  const owned = new Map(items.map((item) => [item.assetId, item]))
  const offered: OfferedItems = {
    shown: [],
    quoted: [],
    unavailableItems: 0,
    unavailableByReason: {},
    restrictedUntil: [],
  }
  for (const item of owned.values()) {
    const price = judge(item, circumstances)
    if (price.kind === 'unavailable') {
      const until = item.restriction?.until ?? null
      if (until !== null) offered.restrictedUntil.push(until)
      leaveOut(offered, price.reason, nameOf(item))
      continue
    }
    const { assetId, marketHashName } = item
    const facts = itemFacts(item, circumstances.game)
    // The URL of the image by class is short, and equal items share it.
    const iconUrl = `${circumstances.imageBase}/economy/image/class/${appId}/${item.classId}/100fx100f`
    offered.shown.push({ id: assetId, ...facts, iconUrl, price: Number(price.price) })
    const { name, phase = null } = facts
    const { price: credited, gross, pricedAs } = price
    const identity = { assetId, appId, contextId, name, marketHashName, phase }
    offered.quoted.push({ ...identity, pricedAs, price: credited, gross })
  }
  return offered
}

function leaveOut(offered: OfferedItems, reason: UnavailableReason, name: string): void {
  offered.unavailableItems += 1
  offered.unavailableByReason[reason] = (offered.unavailableByReason[reason] ?? 0) + 1
  offered.unavailableNames ??= {}
  offered.unavailableCounts ??= {}
  const names = offered.unavailableNames[reason] ?? []
  const counts = offered.unavailableCounts[reason] ?? []
  offered.unavailableNames[reason] = names
  offered.unavailableCounts[reason] = counts
  const index = names.indexOf(name)
  if (index >= 0) counts[index] = (counts[index] ?? 0) + 1
  else if (names.length < MOST_UNAVAILABLE_NAMES) {
    names.push(name)
    counts.push(1)
  }
}

type Judgement =
  | { kind: 'priced'; price: bigint; gross: bigint; pricedAs: string }
  | { kind: 'unavailable'; reason: UnavailableReason }

function judge(item: SteamItem, { game, taken, prices, now }: Circumstances): Judgement {
  if (!item.tradable) return { kind: 'unavailable', reason: reasonOf(item) }
  // The till asks for one of each asset. One taken off a stack would arrive under an unexpected id.
  if (item.amount > 1) return { kind: 'unavailable', reason: 'stack' }
  // Any other amount is invalid.
  if (item.amount !== 1) return { kind: 'unavailable', reason: 'unknownItem' }
  if (taken.has(item.assetId)) return { kind: 'unavailable', reason: 'inAnotherTrade' }
  if (!isMarketable(item, now)) return { kind: 'unavailable', reason: 'notMarketable' }
  if (isUnlikeItsName(item, game)) return { kind: 'unavailable', reason: 'noOwnPrice' }
  return priceOf(item, game, prices)
}

function priceOf(item: SteamItem, game: Game, prices: Circumstances['prices']): Judgement {
  const { marketHashName } = item
  const phase = phaseOf(item, game)
  const { price, pricedAs } =
    phase === undefined
      ? { price: prices.priceOf(marketHashName), pricedAs: marketHashName }
      : prices.priceOfPhase(marketHashName, phase)
  return price.kind === 'priced' ? { ...price, pricedAs } : price
}

const REASON_OF_RESTRICTION: Record<Restriction['kind'], UnavailableReason> = {
  held: 'tradeHold',
  protected: 'tradeProtected',
  undescribed: 'unknownItem',
}

/** If Steam gives no reason, the item may be permanently untradable. */
function reasonOf({ restriction }: SteamItem): UnavailableReason {
  return restriction === null ? 'notTradable' : REASON_OF_RESTRICTION[restriction.kind]
}

/**
 * Prices are for items that Steam's market accepts now or later. Other items can have the same name, but are worth
 * less. An item that is still restricted after the announced end of its restriction counts as not marketable.
 */
function isMarketable({ market }: SteamItem, now: Date): boolean {
  if (market.kind !== 'restricted') return market.kind === 'open'
  return market.until === null || new Date(market.until) > now
}

/** Market names are in English, whatever the shopper's language. */
const UNUSUAL_NAME = /^(?:Strange )?Unusual /

/**
 * True for Team Fortress items that share their market name with items of different value: those with effects, and
 * uncraftable ones.
 */
function isUnlikeItsName({ isNoted, marketHashName, tags }: SteamItem, game: Game): boolean {
  return game === 'tf' && (isNoted || UNUSUAL_NAME.test(marketHashName) || isUnusual(tags))
}
