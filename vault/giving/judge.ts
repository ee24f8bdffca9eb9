/** Decides whether the vault fulfils a wish of the till, by the vault's own rules and log, and by Steam's data. Pure. */
import type { WishRefusal } from '../../contract/gift-failures.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import type { Rules } from '../files/rules.ts'
import type { Partner } from '../files/trade-link.ts'
import { type Book, isOpen, type Spent } from './book.ts'
import { type GivenAsset, isSameSet } from './gift.ts'

/** The most items of one wish. */
export const MOST_ASSETS = 100
/** Steam's context of items that are not under protection. */
const FREE_CONTEXT = '2'

/** The wish as the database describes it. None of it is trusted. */
export type Wish = {
  id: string
  fromSteamId: string
  assets: readonly GivenAsset[]
  ask: { kind: 'send'; to: string } | { kind: 'return'; steamTradeId: string }
}

export type Verdict = { kind: 'give'; partner: Partner } | Objection

export type Objection =
  /** The wish may be fulfilled later, for example once the operator has approved it or the limits have room. */
  | { kind: 'wait'; because: string }
  /** The wish is refused for good, even if the till asks again under the same number. */
  | { kind: 'refuse'; because: WishRefusal }

const refuse = (because: WishRefusal): Objection => ({ kind: 'refuse', because })
const wait = (because: string): Objection => ({ kind: 'wait', because })

/** The facts by which a wish is judged. */
export type Context = {
  rules: Rules
  book: Book
  /**
   * The account whose items leave. Undefined if the vault does not have it. `sells`: it was added for selling only, unlike
   * a bot that sells its own items.
   */
  account: { sells: boolean } | undefined
  /** The operator's approval at the vault, with its recipient. Undefined if there is none. */
  approved: Approval | undefined
  /** True if one of the wish's items is on sale, or sold and not given yet. */
  isListed: boolean
}

/** The operator's approval at the vault: these items, to this account. */
export type Approval = { partner: Partner; assets: readonly GivenAsset[] }

/** The checks that do not need Steam. */
export function judgeWish(wish: Wish, context: Context): Verdict {
  const { rules, book, account, approved } = context
  if (book.has(wish.id)) return refuse('asked before')
  const complaint = complaintOf(wish.assets) ?? findConflict(book, wish.assets)
  if (complaint !== undefined) return refuse(complaint)
  if (account?.sells === true) return refuse('wishes may not take items from a selling account')
  if (context.isListed) return wait('an item is on sale')
  if (wish.ask.kind === 'send') {
    const { destinations } = rules
    const partner = Object.hasOwn(destinations, wish.ask.to) ? destinations[wish.ask.to] : undefined
    if (partner === undefined) return refuse('no such destination')
    if (partner.steamId === wish.fromSteamId) return refuse('the destination is the bot itself')
    return account === undefined ? wait('the bot is not enrolled') : { kind: 'give', partner }
  }
  if (account === undefined) return wait('the bot is not enrolled')
  if (approved === undefined) return wait('not approved')
  return isSameSet(approved.assets, wish.assets)
    ? { kind: 'give', partner: approved.partner }
    : refuse('other items than were approved')
}

function complaintOf(assets: readonly GivenAsset[]): WishRefusal | undefined {
  if (assets.length === 0 || assets.length > MOST_ASSETS) return 'not 1 to 100 items'
  if (assets.some(({ contextId }) => contextId !== FREE_CONTEXT)) return 'items under protection'
  const keys = new Set(assets.map(({ appId, assetId }) => `${appId}/${assetId}`))
  return keys.size < assets.length ? 'an item twice' : undefined
}

function findConflict(book: Book, assets: readonly GivenAsset[]): WishRefusal | undefined {
  const leaving = new Set(
    [...book.values()].flatMap((giving) =>
      isOpen(giving) ? giving.intended.assets.map(({ appId, assetId }) => `${appId}/${assetId}`) : [],
    ),
  )
  return assets.some(({ appId, assetId }) => leaving.has(`${appId}/${assetId}`))
    ? 'an item is already on its way'
    : undefined
}

export type ShownItems = ReadonlyMap<string, { isTradable: boolean }>

/** `seen`: the items as Steam shows them to their owner, by `appId/assetId`. */
export function judgeItems(assets: readonly GivenAsset[], seen: ShownItems): Objection | undefined {
  const items = assets.map(({ appId, assetId }) => seen.get(`${appId}/${assetId}`))
  if (items.some((item) => item === undefined))
    return refuse('the account does not have an item, or it is protected')
  return items.some((item) => item?.isTradable !== true) ? refuse('an item cannot be traded') : undefined
}

/** `cents`: in US cents, as the limits are. */
export type Load = { cents: bigint; items: number }

/** False if the limits never have room for this at once, however little was given before. */
export const isWithinLimits = ({ limits }: Pick<Rules, 'limits'>, { cents, items }: Load): boolean =>
  cents <= limits.centsAnHour && cents <= limits.centsADay && items <= limits.itemsAnHour

/**
 * `spent`: the use of the limits by wishes and sales together. Refuses more than the limits can ever allow, and
 * waits while they have no room.
 */
export function judgeLimits(
  rules: Rules,
  spent: (since: Date) => Spent,
  { now, ...load }: Load & { now: Date },
): Objection | undefined {
  const { limits } = rules
  const { cents, items } = load
  const spentWithin = (ms: number) => spent(new Date(now.getTime() - ms))
  const [hour, day] = [spentWithin(HOUR_MS), spentWithin(DAY_MS)]
  if (!isWithinLimits(rules, load)) return refuse('more than the limits allow at once')
  const isOver =
    hour.cents + cents > limits.centsAnHour ||
    day.cents + cents > limits.centsADay ||
    hour.items + items > limits.itemsAnHour
  return isOver ? wait('the limits have no room now') : undefined
}
