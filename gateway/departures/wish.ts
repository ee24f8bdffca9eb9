/** Chooses the items that the till asks the vault to give, and splits them into wishes. */
import { type HeldItem, heldItems } from '../bots/held-item-store.ts'
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { keyOf } from './departure.ts'
import {
  closeEndedWishes,
  departingAssets,
  type Failures,
  insertWish,
  itemsInSales,
  lockWishedAssets,
  mayMakeWishes,
  type NewWish,
  readSendRule,
  recentFailures,
  type WishedAsset,
} from './wish-store.ts'

/** A wish has at most this many items. The vault accepts up to 100. */
const MOST_ITEMS = 50

export type FreeItem = HeldItem & { assetId: string }

/**
 * Free items of bots: not under protection, with a known asset id, in no open wish, neither on sale nor sold, and in no
 * Steam trade under way. Oldest first. Also closes the wishes that the vault has finished, and locks the table of wished
 * items.
 */
export async function freeItems(tx: Tx, bot?: string): Promise<FreeItem[]> {
  await closeEndedWishes(tx)
  const wished = await lockWishedAssets(tx)
  const inSales = await itemsInSales(tx)
  const departing = await departingAssets(tx)
  const isFree = (item: HeldItem): item is FreeItem => {
    const { appId, assetId, protectedUntil } = item
    if (protectedUntil !== null || assetId === null || inSales.has(item.item)) return false
    const key = keyOf({ appId, assetId })
    return !wished.has(key) && !departing.has(key)
  }
  const held = (await heldItems(tx)).filter(isFree)
  return bot === undefined
    ? held
    : held.filter((item) => String(item.botId) === bot || item.botSteamId === bot)
}

type Part = { botId: bigint; assets: WishedAsset[] }

/**
 * Splits items by bot and game, because an offer gives items of one game only. A part has at most `mostItems`. Pure.
 */
export function partsOf(items: readonly FreeItem[], mostItems = MOST_ITEMS): Part[] {
  const groups = Map.groupBy(items, ({ botId, appId }) => `${botId}/${appId}`)
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / mostItems) }, (_, index) => {
      const part = group.slice(index * mostItems, (index + 1) * mostItems)
      const assets = part.map(({ appId, assetId }) => ({ appId, assetId }))
      return { botId: part[0]?.botId ?? 0n, assets }
    }),
  )
}

type WishOrigin = Pick<NewWish, 'ask' | 'askedBy'>

/** Resolves to the numbers of the wishes. */
export async function createWishes(
  tx: Tx,
  items: readonly FreeItem[],
  { mostItems, ...origin }: WishOrigin & { mostItems?: number },
): Promise<bigint[]> {
  const wishes: bigint[] = []
  for (const part of partsOf(items, mostItems)) wishes.push(await insertWish(tx, { ...origin, ...part }))
  return wishes
}

/** The oldest items of each bot with more than `keep` free items, so `keep` remain. Pure. */
function itemsBeyond(items: readonly FreeItem[], keep: number): FreeItem[] {
  const groups = Map.groupBy(items, ({ botId }) => botId)
  return [...groups.values()].flatMap((group) => group.slice(0, Math.max(0, group.length - keep)))
}

/** The wait after the first failure. */
const FIRST_WAIT_MS = 15 * 60_000
/** The longest wait after failures that the item may have caused. */
const LONGEST_WAIT_MS = 8 * 3_600_000
/** The longest wait after failures that no item can cause, as in an outage. */
const LONGEST_OUTAGE_WAIT_MS = 3_600_000
/** Doubles with each failure. */
const growingWaitMs = (failures: number, longestMs: number): number =>
  failures === 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), longestMs)

/**
 * How long the rule waits before it asks for an item again. While the item shares its wish with other items, they may
 * have caused the failure, and the next wish is smaller, so the wait stays short.
 */
function waitMsOf({ otherCauses, alone, smallestWish }: Failures): number {
  const itemWaitMs =
    smallestWish === Number.POSITIVE_INFINITY ? 0 : growingWaitMs(Math.max(1, alone), LONGEST_WAIT_MS)
  return Math.max(itemWaitMs, growingWaitMs(otherCauses, LONGEST_OUTAGE_WAIT_MS))
}

/**
 * Groups the items that the rule may ask for now. One item that cannot leave ends its whole wish. So after each failure
 * that an item may have caused, the rule asks for the items in wishes of half the size, until that item is alone. It
 * then waits longer after every failure: otherwise an offer that is always refused would be sent every minute forever.
 * Pure.
 */
export function askableNow(
  items: readonly FreeItem[],
  failures: ReadonlyMap<string, Failures>,
  now: Date,
): { mostItems: number; items: FreeItem[] }[] {
  const largestWishFor = (item: FreeItem) => {
    const smallest = failures.get(keyOf(item))?.smallestWish ?? Number.POSITIVE_INFINITY
    return Math.max(1, Math.min(MOST_ITEMS, Math.floor(smallest / 2)))
  }
  const dueItems = items.filter((item) => {
    const itemFailures = failures.get(keyOf(item))
    return (
      itemFailures === undefined || now.getTime() - itemFailures.lastAt.getTime() >= waitMsOf(itemFailures)
    )
  })
  const groups = Map.groupBy(dueItems, largestWishFor)
  return [...groups].map(([mostItems, group]) => ({ mostItems, items: group }))
}

/** Closes wishes that the vault has finished, and makes the wishes of the operator's rule. */
export async function sweepWishes({ db, clock, log }: { db: Db; clock: Clock; log: Log }): Promise<void> {
  await closeEndedWishes(db)
  const rule = await readSendRule(db)
  if (rule === undefined || !(await mayMakeWishes(db))) return
  const wishes = await inTransaction(db, async (tx) => {
    const beyond = itemsBeyond(await freeItems(tx), rule.keep)
    if (beyond.length === 0) return []
    const ask = { kind: 'send', to: rule.destination } as const
    const wishIds: bigint[] = []
    const failures = await recentFailures(tx, rule.destination)
    for (const { mostItems, items } of askableNow(beyond, failures, clock.now()))
      wishIds.push(...(await createWishes(tx, items, { askedBy: 'rule', ask, mostItems })))
    return wishIds
  })
  if (wishes.length > 0)
    log.info(
      { wishes: wishes.length, destination: rule.destination },
      'the operator’s rule asked the vault to give items',
    )
}
