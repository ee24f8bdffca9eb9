import type { Db } from '../db/client.ts'
import { counted } from '../kit/counted.ts'
import { scrub } from '../kit/scrub.ts'
import { type Erased, eraseAccount } from '../shoppers/erasure-store.ts'
import { endOnRelease, type OnReleaseShopper, onReleaseShoppers } from '../shoppers/on-release-store.ts'
import {
  type DeniedShopper,
  deleteDenial,
  deniedShoppers,
  openTradesOf,
  saveDenial,
} from '../shoppers/store.ts'
import { act } from './act.ts'
import { depositRows, depositsOfAccount, type ListedDeposit } from './deposit-list-store.ts'
import { type FoundShopper, findShopper } from './find-store.ts'
import {
  type ActDeps,
  type Answer,
  done,
  type FindDeps,
  type ReadDeps,
  refused,
  unchanged,
} from './operation.ts'
import { moneyOfShopper, type ShopperMoney, type ShopperTrades, tradesOfShopper } from './shopper-store.ts'

/** The most accounts in each of the two lists. */
const MOST_LISTED = 1_000
/** The most deposits shown with an account. */
const MOST_SHOWN = 20

export type ShopperView = FoundShopper & {
  denied: Omit<DeniedShopper, 'steamId' | 'openTrades'> | null
  /** Set if the account took items back, so its next deliveries are credited on release; null if its store decides. */
  onRelease: Omit<OnReleaseShopper, 'steamId'> | null
  openTrades: DeniedShopper['openTrades']
  history: ShopperTrades
  money: ShopperMoney[]
  /** The newest deposits; the list of deposits has the rest. */
  deposits: ListedDeposit[]
}

/** Figures for decisions about the account's credit, from its newest trades (5,000 by default). */
export type ShopperRecord = Pick<
  ShopperView,
  'steamId' | 'name' | 'isDenied' | 'isBot' | 'denied' | 'onRelease' | 'history' | 'money'
>

export async function readShopperRecord(db: Db, steamId: string, most?: number): Promise<ShopperRecord> {
  const shopper = await findShopper(db, steamId)
  const [listed] = await onReleaseShoppers(db, { steamId, limit: 1 })
  const [denial] = shopper.isDenied ? await deniedShoppers(db, { steamId, limit: 1 }) : []
  return {
    ...shopper,
    denied: denial === undefined ? null : { reason: denial.reason, deniedAt: denial.deniedAt },
    onRelease: listed === undefined ? null : onReleaseOf(listed),
    history: await tradesOfShopper(db, steamId, most),
    money: await moneyOfShopper(db, steamId, most),
  }
}

export async function showShopper({ db }: ReadDeps, steamId: string): Promise<Answer<ShopperView>> {
  const ids = await depositsOfAccount(db, steamId, MOST_SHOWN)
  const record = await readShopperRecord(db, steamId)
  if (ids.length === 0 && !record.isDenied && record.onRelease === null)
    return refused('not_found', `No deposit names ${steamId}.`)
  return done({
    ...record,
    openTrades: await openTradesOf(db, steamId),
    deposits: await depositRows(db, ids),
  })
}

const onReleaseOf = ({ steamId: _, ...rest }: OnReleaseShopper) => rest

/** Denies the account. Its open offers stay open, and the answer lists them. */
export function denyShopper(deps: ActDeps, steamId: string): Promise<Answer<DeniedShopper>> {
  const namedAct = { name: 'shopper deny', needsReason: true, argumentsOf: () => ({ steamId }) }
  return act(deps, namedAct, async (tx) => {
    const reason = scrub(deps.reason ?? '')
    const isNew = await saveDenial(tx, { steamId, reason, at: deps.clock.now() })
    const [denied] = await deniedShoppers(tx, { steamId, limit: 1 })
    if (denied === undefined) throw new Error(`the denial of ${steamId} vanished in its own transaction`)
    if (!isNew) return unchanged(denied, `${steamId} is already denied: ${denied.reason}`)
    return done(denied, `${steamId} can no longer pay.${openText(denied)}`)
  })
}

function openText({ openTrades }: DeniedShopper): string {
  if (openTrades.length === 0) return ''
  const named = openTrades.map(({ tradeId, depositId }) => `trade ${tradeId} of deposit ${depositId}`)
  return ` Open offers stay as they are: ${named.join(', ')}.`
}

export function allowShopper(deps: ActDeps, steamId: string): Promise<Answer<{ steamId: string }>> {
  return act(deps, { name: 'shopper allow', argumentsOf: () => ({ steamId }) }, async (tx) => {
    if (!(await deleteDenial(tx, steamId))) return unchanged({ steamId }, `${steamId} is not denied.`)
    return done({ steamId }, `${steamId} may pay again.`)
  })
}

/**
 * Erases the account from all deposits that can be erased already, and from their trades. Other deposits, events, the
 * deny-list and credit on release keep it, and the answer says so. The record of the act does not contain the account.
 */
export function eraseShopper(deps: ActDeps, steamId: string): Promise<Answer<Erased>> {
  const argumentsOf = ({ deposits, trades, reads, keptDeposits }: Erased) => ({
    deposits,
    trades,
    reads,
    keptDeposits,
  })
  return act(deps, { name: 'shopper erase', needsReason: true, argumentsOf }, async (tx) => {
    const erased = await eraseAccount(tx, steamId, deps.clock.now())
    const { deposits, reads, keptDeposits } = erased
    if (deposits + reads + keptDeposits === 0) return refused('not_found', `No deposit names ${steamId}.`)
    return deposits + reads === 0 ? unchanged(erased, erasedText(erased)) : done(erased, erasedText(erased))
  })
}

function erasedText({ deposits, trades, reads, ...kept }: Erased): string {
  const { keptDeposits, keptEvents, keptDepartures, keptWishes, keptActs, isDenied, isOnRelease } = kept
  const lines = [
    ...(reads > 0
      ? [
          `${counted(reads, 'record of its inventory and prices was', 'records of its inventory and prices were')} deleted.`,
        ]
      : []),
    ...(keptDeposits > 0
      ? [
          `${counted(keptDeposits, 'deposit is', 'deposits are')} open, protected, held by Steam, at risk or still to be checked on Steam: run this again later to remove the account from there too.`,
        ]
      : []),
    ...(keptEvents > 0
      ? [`${counted(keptEvents, 'event that a store received is', 'events that stores received are')} kept.`]
      : []),
    ...(keptDepartures > 0
      ? [
          `${counted(keptDepartures, 'departure to the account is', 'departures to the account are')} kept, to show where the items are.`,
        ]
      : []),
    ...(keptWishes > 0
      ? [
          `${counted(keptWishes, 'wish for the account is', 'wishes for the account are')} kept, and the vault’s own log is not changed.`,
        ]
      : []),
    ...(keptActs > 0
      ? [`${counted(keptActs, 'record of acts names', 'records of acts name')} the account.`]
      : []),
    ...(isDenied ? ['The account is denied, and the deny-list keeps its Steam id.'] : []),
    ...(isOnRelease
      ? ['The account took items back, and is credited on release: its Steam id is kept for that.']
      : []),
  ]
  return [
    `The account was removed from ${counted(deposits, 'deposit')} and ${counted(trades, 'trade')}.`,
    ...lines,
  ].join(' ')
}

export type ShopperList = { shoppers: DeniedShopper[]; onRelease: OnReleaseShopper[] }

/** Lists the newest accounts that are denied, and the newest that are credited on release. */
export async function listShoppers({ db }: FindDeps): Promise<Answer<ShopperList>> {
  const limit = MOST_LISTED
  return done({
    shoppers: await deniedShoppers(db, { limit }),
    onRelease: await onReleaseShoppers(db, { limit }),
  })
}

/** Lets the credit modes of the stores apply again to an account that took items back. */
export function trustShopper(deps: ActDeps, steamId: string): Promise<Answer<{ steamId: string }>> {
  const namedAct = { name: 'shopper trust', needsReason: true, argumentsOf: () => ({ steamId }) }
  return act(deps, namedAct, async (tx) => {
    if (!(await endOnRelease(tx, steamId)))
      return unchanged({ steamId }, `${steamId} is already credited as its stores decide.`)
    return done({ steamId }, `${steamId} is credited as its stores decide, until it takes items back again.`)
  })
}
