/** Makes, changes and takes down listings on one market, and compares the record with the market's own list. */
import type { Alarm } from './alarm.ts'
import {
  isLive,
  isNumberInUse,
  isOfAccount,
  type Journal,
  type Listing,
  liveListing,
  type MarketAccount,
} from './book.ts'
import type { Line, Listed, Market, MarketAnswer, Row } from './market.ts'
import type { Scale } from './scale.ts'

type Parts = {
  market: Market
  marketAccount: MarketAccount
  journal: Journal
  scale: Scale
  now: () => Date
  alarm: (alarm: Alarm) => void
}

/**
 * For this long, all lists of the market must contradict the record before the vault believes them: the market may still
 * be at work on a change, or answer with an empty list now and then.
 */
const SURE_AFTER_MS = 60_000
/** The fewest lists that must contradict the record: after hours without a look, the time alone proves nothing. */
const LEAST_LISTS = 3

type Reprice = { itemId: string; priceMinor: bigint }
type Change = { appId: number; lines: readonly Reprice[] }
type MarketRows = { appId: number; rows: readonly Row[] }
/**
 * Prices that may apply or not, because the answer to the change was lost. The key is the market's number of the
 * listing. `sinceMs`: when the call for the change ended.
 */
type UnsurePrices = Map<string, { priceMinor: bigint; sinceMs: number }>
/** The points in which the market's latest lists contradict the record: since when, and how many lists. */
type Doubts = Map<string, { sinceMs: number; lists: number }>
type Context = Parts & { unsure: UnsurePrices; doubts: Doubts }

export function createListings(parts: Parts) {
  const context: Context = { ...parts, unsure: new Map(), doubts: new Map() }
  return {
    list: (appId: number, lines: readonly Line[]) => list(parts, appId, lines),
    unlist: (appId: number, itemIds: readonly string[]) => unlist(parts, appId, itemIds),
    reprice: (appId: number, lines: readonly Reprice[]) => reprice(context, { appId, lines }),
    /** The live listings of this account. */
    own: (appId: number) => ownListings(parts, appId),
    async compare(appId: number, rows: readonly Row[]) {
      await compare(context, { appId, rows })
      // Last, because a listing that this call takes down would look strange to `compare`.
      await settlePrices(context, { appId, rows })
    },
  }
}

/**
 * Lists the items that are not yet listed. The intent is recorded right before the call, because the answer can be
 * lost. If `market` answers without a call, which can happen every few seconds, nothing is recorded.
 */
async function list(
  { market, marketAccount, journal, alarm }: Parts,
  appId: number,
  lines: readonly Line[],
): Promise<MarketAnswer<readonly Listed[]>> {
  const free = lines.filter(({ assetId }) => liveListing(journal.book(), { appId, assetId }) === undefined)
  if (free.length === 0) return { kind: 'answered', value: [] }
  const game = { market: market.name, appId }
  const begunAssetIds = new Set<string>()
  const answer = await market.list(appId, free, async (requested) => {
    for (const { assetId, priceMinor } of requested) {
      const { account } = marketAccount
      journal.add({ kind: 'listing_begun', ...game, account, assetId, priceMinor })
      begunAssetIds.add(assetId)
    }
  })
  // The next round finds the results in the market's list.
  if (answer.kind === 'unanswered') return answer
  const answers: readonly Listed[] =
    answer.kind === 'answered'
      ? answer.value
      : free.map(({ assetId }) => ({ kind: 'refused', assetId, code: answer.kind, retry: true }))
  const results: Listed[] = []
  for (const line of answers) {
    const { assetId } = line
    const isBegun = begunAssetIds.has(assetId)
    // If two listings had one number, the record could not tell which was given and paid. The market's list may show
    // the right number.
    if (isBegun && line.kind === 'listed' && isNumberInUse(journal.book(), { ...game, ...line })) {
      alarm({ kind: 'repeated_number', itemId: line.itemId })
      results.push({ kind: 'refused', assetId, code: 'number_in_use', retry: true })
      continue
    }
    results.push(line)
    if (!isBegun) continue
    if (line.kind === 'listed') journal.add({ kind: 'listed', ...game, assetId, itemId: line.itemId })
    else
      journal.add({
        kind: 'not_listed',
        ...game,
        assetId,
        code: line.kind === 'postponed' ? 'postponed' : line.code,
      })
  }
  return answer.kind === 'answered' ? { kind: 'answered', value: results } : answer
}

async function unlist({ market, journal }: Parts, appId: number, itemIds: readonly string[]): Promise<void> {
  const answer = await market.unlist(appId, itemIds)
  if (answer.kind !== 'answered') return
  for (const { itemId, isDone } of answer.value)
    if (isDone) journal.add({ kind: 'unlisted', market: market.name, itemId })
}

/**
 * Changes prices. If the answer is lost, the market's next lists show which price applies. Until then the price stays
 * as it is: after a second lost answer three prices would be possible, and only one of them is kept in `unsure`.
 */
async function reprice(context: Context, { appId, lines: wanted }: Change): Promise<void> {
  const { market, journal, unsure, now } = context
  const lines = wanted.filter(({ itemId }) => !unsure.has(itemId))
  if (lines.length === 0) return
  const answer = await market.reprice(appId, lines)
  const sinceMs = now().getTime()
  const done = answer.kind === 'answered' ? answer.value.filter(({ isDone }) => isDone) : []
  const changed = lines.filter(({ itemId }) => done.some((each) => each.itemId === itemId))
  // A change that could not be recorded, as on a full disk, is as unsure as one whose answer was lost.
  for (const { itemId, priceMinor } of answer.kind === 'unanswered' ? lines : changed)
    unsure.set(itemId, { priceMinor, sinceMs })
  for (const { itemId, priceMinor } of changed) {
    journal.add({ kind: 'repriced', market: market.name, itemId, priceMinor })
    unsure.delete(itemId)
  }
}

/**
 * Settles unsure prices by the market's list. If it shows the new price, the change is recorded. If it still shows
 * another one after a minute, the change has failed; until then, the market may be at work on it. If it shows no price,
 * the listing is taken down, because the vault would not know the price of its sale.
 */
async function settlePrices(context: Context, { appId, rows }: MarketRows): Promise<void> {
  const { market, journal, scale, unsure, now } = context
  if (unsure.size === 0) return
  const unknown: string[] = []
  for (const { state, itemId, priceMinor: recordedMinor } of ownListings(context, appId)) {
    if (state !== 'on_sale') continue
    const change = itemId === null ? undefined : unsure.get(itemId)
    const row = rows.find((each) => each.itemId === itemId)
    if (itemId === null || change === undefined || row === undefined) continue
    const { priceMinor, sinceMs } = change
    if (row.price === null) {
      // A sold item is left alone, because it must be given.
      if (row.stage === 'on_sale') unknown.push(itemId)
    } else if (scale.isPrice(row.price, priceMinor)) {
      if (priceMinor !== recordedMinor)
        journal.add({ kind: 'repriced', market: market.name, itemId, priceMinor })
      unsure.delete(itemId)
      // `abs`: the clock may have been set back.
    } else if (Math.abs(now().getTime() - sinceMs) >= SURE_AFTER_MS) unsure.delete(itemId)
  }
  if (unknown.length > 0) await unlist(context, appId, unknown)
  const live = new Set(journal.book().listings.flatMap((each) => (isLive(each) ? [each.itemId] : [])))
  for (const itemId of unsure.keys()) if (!live.has(itemId)) unsure.delete(itemId)
}

/**
 * Brings our record of listings up to date with the market's list. Takes down listings that are not in our record, or
 * that have a price that we did not set.
 */
async function compare(context: Context, { appId, rows }: MarketRows): Promise<void> {
  const { market, journal, alarm } = context
  const game = { market: market.name, appId }
  const ownBefore = ownListings(context, appId)
  for (const { assetId } of ownBefore.filter(({ itemId }) => itemId === null)) {
    const isFree = ({ itemId }: Row) => !isNumberInUse(journal.book(), { market: market.name, itemId })
    const row = rows.find((each) => each.assetId === assetId && isFree(each) && isOnMarket(each))
    if (row) journal.add({ kind: 'listed', ...game, assetId, itemId: row.itemId })
  }
  const own = ownListings(context, appId)
  const { gone, mispriced } = contradictionsOf(context, { appId, rows })
  for (const { assetId, itemId } of gone) {
    // The listing was taken down without our record of it, or it never existed.
    if (itemId !== null) journal.add({ kind: 'unlisted', market: market.name, itemId })
    else journal.add({ kind: 'not_listed', ...game, assetId, code: 'not_found' })
  }
  // Either the process ended while it changed the price, or somebody else has our key. Nothing that is sold at such a
  // price is given.
  for (const itemId of mispriced) alarm({ kind: 'other_price', itemId })
  if (mispriced.length > 0) await unlist(context, appId, mispriced)
  const strange = rows.filter((row) => row.stage === 'on_sale' && !isKnown(own, row))
  for (const { itemId } of strange) alarm({ kind: 'strange_listing', itemId })
  if (strange.length > 0)
    await market.unlist(
      appId,
      strange.map(({ itemId }) => itemId),
    )
}

/**
 * `gone`: listings that are on sale in our record, but that the market's lists have not shown for a minute.
 * `mispriced`: the numbers of listings that the lists have shown for a minute at a price that the vault did not set.
 */
function contradictionsOf(
  context: Context,
  { appId, rows }: MarketRows,
): { gone: Listing[]; mispriced: string[] } {
  const { doubts, unsure, scale } = context
  const nowMs = context.now().getTime()
  const seen = new Set<string>()
  /** Counts a list that contradicts the record. Returns true once there are enough, for long enough. */
  const countDoubt = (doubt: string): boolean => {
    const key = `${appId}/${doubt}`
    const known = doubts.get(key) ?? { sinceMs: nowMs, lists: 0 }
    const [sinceMs, lists] = [Math.min(known.sinceMs, nowMs), known.lists + 1]
    const isOver = nowMs - sinceMs >= SURE_AFTER_MS && lists >= LEAST_LISTS
    // If a listing cannot be taken down, that is tried again after the same time.
    if (isOver) doubts.delete(key)
    else doubts.set(key, { sinceMs, lists })
    seen.add(key)
    return isOver
  }
  const gone: Listing[] = []
  const mispriced: string[] = []
  for (const listing of ownListings(context, appId).filter(({ state }) => state === 'on_sale')) {
    const { itemId, assetId, priceMinor, begunAt } = listing
    const row = rows.find((each) => each.itemId === itemId && each.stage !== 'cancelled')
    if (row === undefined) {
      if (countDoubt(`gone ${assetId} ${begunAt.getTime()}`)) gone.push(listing)
      continue
    }
    const possibleMinor = [priceMinor, unsure.get(row.itemId)?.priceMinor ?? priceMinor]
    const { stage, price } = row
    if (stage === 'on_sale' && price !== null && !possibleMinor.some((each) => scale.isPrice(price, each))) {
      if (countDoubt(`price ${assetId} ${begunAt.getTime()} ${priceMinor}`)) mispriced.push(row.itemId)
    }
  }
  for (const key of doubts.keys()) if (key.startsWith(`${appId}/`) && !seen.has(key)) doubts.delete(key)
  return { gone, mispriced }
}

const isKnown = (own: readonly Listing[], row: Row): boolean =>
  own.some(({ itemId }) => itemId === row.itemId)
const isOnMarket = ({ stage }: Row): boolean =>
  stage === 'on_sale' || stage === 'sold' || stage === 'offer_out'

function ownListings({ marketAccount, journal }: Parts, appId: number): Listing[] {
  return journal
    .book()
    .listings.filter((each) => isOfAccount(marketAccount)(each) && each.appId === appId && isLive(each))
}
