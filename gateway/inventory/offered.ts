/** Decides which items of an inventory pay here, and why the rest do not. Pure. */
import { GAME_FACTS, type Game } from '../../contract/games.ts'
import type { UnavailableReason } from '../../contract/statuses.ts'
import type { Item } from '../../contract/widget-api.ts'
import type { PriceList } from '../pricing/service.ts'
import type { Restriction, SteamItem } from '../steam/steam.ts'
import { itemFacts } from './item.ts'
import type { QuotedItem } from './quote-store.ts'

export type Offered = {
  /** As the shopper sees them, and the same as they are quoted; both in the order that Steam gave. */
  shown: Item[]
  quoted: QuotedItem[]
  unavailableItems: number
  unavailableByReason: Partial<Record<UnavailableReason, number>>
  /** When Steam lets go of what it holds for a while: ISO 8601, in no order. */
  heldUntil: string[]
}

type Around = {
  game: Game
  prices: Pick<PriceList, 'of'>
  /** Asset ids that stand in another trade. */
  taken: ReadonlySet<string>
  /** Origin of Steam's image host, without a slash at the end. */
  imageBase: string
}

/** Sorts the items into those that pay and those that do not. An id that comes twice counts once. */
export function offeredOf(items: readonly SteamItem[], around: Around): Offered {
  const { appId, contextId } = GAME_FACTS[around.game]
  const owned = new Map(items.map((item) => [item.assetId, item]))
  const offered: Offered = {
    shown: [],
    quoted: [],
    unavailableItems: 0,
    unavailableByReason: {},
    heldUntil: [],
  }
  for (const item of owned.values()) {
    const price = judge(item, around)
    if (price.kind === 'unavailable') {
      const until = item.restriction?.until ?? null
      if (until !== null) offered.heldUntil.push(until)
      offered.unavailableItems += 1
      offered.unavailableByReason[price.reason] = (offered.unavailableByReason[price.reason] ?? 0) + 1
      continue
    }
    const { assetId, marketHashName } = item
    const facts = itemFacts(item, around.game)
    // The picture of the class: it needs no description, and equal items share one short address.
    const iconUrl = `${around.imageBase}/economy/image/class/${appId}/${item.classId}/100fx100f`
    offered.shown.push({ id: assetId, ...facts, iconUrl, price: Number(price.price) })
    const { name } = facts
    const { price: credited, gross } = price
    offered.quoted.push({ assetId, appId, contextId, name, marketHashName, price: credited, gross })
  }
  return offered
}

type Judged =
  | { kind: 'priced'; price: bigint; gross: bigint }
  | { kind: 'unavailable'; reason: UnavailableReason }

function judge(item: SteamItem, { taken, prices }: Around): Judged {
  if (!item.tradable) return { kind: 'unavailable', reason: reasonOf(item) }
  // An offer names whole assets: part of a stack would come to the bot under an id that nobody expects.
  if (item.amount > 1) return { kind: 'unavailable', reason: 'stack' }
  // Steam said no number that makes sense.
  if (item.amount !== 1) return { kind: 'unavailable', reason: 'unknownItem' }
  if (taken.has(item.assetId)) return { kind: 'unavailable', reason: 'inAnotherTrade' }
  return prices.of(item.marketHashName)
}

const REASON_OF_RESTRICTION: Record<Restriction['kind'], UnavailableReason> = {
  held: 'tradeHold',
  protected: 'tradeProtected',
  undescribed: 'unknownItem',
}

/** Where Steam does not say why, it may be bound for good. */
function reasonOf({ restriction }: SteamItem): UnavailableReason {
  return restriction === null ? 'notTradable' : REASON_OF_RESTRICTION[restriction.kind]
}
