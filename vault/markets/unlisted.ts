/** Why items of an account are not on sale at a market, according to the last rounds. */
import { keepAtMost } from '../keep-newest.ts'
import { plain } from '../needs.ts'
import type { OwnItem } from '../steam/look.ts'

/**
 * `not_tradable`: Steam does not let the account give the item yet. `no_price`: the vault found no price. `no_cost`: the
 * till's books do not have the item's cost. `over_limits`: its price is more than the vault's limits ever let leave.
 * `refused`: the market refuses the item for now.
 */
export type UnlistedReason = 'not_tradable' | 'no_price' | 'no_cost' | 'over_limits' | 'refused'

/** `name`: the name of one such item. */
export type UnlistedItems = { appId: number; reason: UnlistedReason; items: number; name: string }

/** The row `stopped` covers the whole account: its items are not examined. */
export type Unlisted = { market: string; account: string } & (
  | UnlistedItems
  | { reason: 'stopped'; because: string }
)

/** Beyond this many items, those that were judged longest ago are left out. */
const MOST_ITEMS = 5_000
const keepItem = keepAtMost(MOST_ITEMS)

/** The items of an account that it could sell, and those that it cannot give yet. */
export type Stock = { listable: readonly OwnItem[]; notTradable: readonly OwnItem[] }

type Judged = { appId: number; reason: UnlistedReason; name: string }

/** The judgements of one account at one market. */
export function createUnlisted() {
  const judged = new Map<string, Judged>()
  const keyOf = (appId: number, assetId: string) => `${appId}/${assetId}`
  const judge = (appId: number, { assetId, marketHashName }: OwnItem, reason: UnlistedReason | undefined) => {
    if (reason === undefined) judged.delete(keyOf(appId, assetId))
    else keepItem(judged, keyOf(appId, assetId), { appId, reason, name: plain(marketHashName, MOST_TEXT) })
  }
  return {
    /** Without a reason, the item may be listed. */
    judge,
    /** Forgets the items that the account no longer has, or has on sale. Records those that it cannot give yet. */
    noteStock(appId: number, { listable, notTradable }: Stock): void {
      const stock = new Set([...listable, ...notTradable].map(({ assetId }) => keyOf(appId, assetId)))
      for (const [key, each] of judged) if (each.appId === appId && !stock.has(key)) judged.delete(key)
      for (const item of listable)
        if (judged.get(keyOf(appId, item.assetId))?.reason === 'not_tradable') judge(appId, item, undefined)
      for (const item of notTradable) judge(appId, item, 'not_tradable')
    },
    counts(): UnlistedItems[] {
      const counts = new Map<string, UnlistedItems>()
      for (const { appId, reason, name } of judged.values()) {
        const count = counts.get(`${appId} ${reason}`) ?? { appId, reason, items: 0, name }
        counts.set(`${appId} ${reason}`, { ...count, items: count.items + 1 })
      }
      return [...counts.values()]
    },
  }
}

const MOST_TEXT = 200
/** The most rows of a report: more than the accounts of a vault need. */
const MOST_ROWS = 200
/** How often to report although nothing has changed: the till shows how old a report is. */
const REPEAT_MS = 60_000
/** How often to report changes. */
const NEWS_MS = 10_000

/** Cuts `because`, and replaces its control characters: a part of it can be the market's own text. */
const withPlainReason = (row: Unlisted): Unlisted =>
  row.reason === 'stopped' ? { ...row, because: plain(row.because, MOST_TEXT) } : row

type ReportParts = {
  read(): readonly Unlisted[]
  report(rows: readonly Unlisted[], at: Date): Promise<void>
  now(): Date
  say(line: string, about: Record<string, string | number>): void
}

/** Returns a function that reports to the till. Never rejects: a till of an earlier version cannot take these reports. */
export function createUnlistedReport({ read, report, now, say }: ReportParts): () => Promise<void> {
  let triedAtMs = Number.NEGATIVE_INFINITY
  let isFailing = false
  let reported: string | undefined
  return async () => {
    const rows = read().slice(0, MOST_ROWS).map(withPlainReason)
    const isNews = !isFailing && JSON.stringify(rows) !== reported
    if (Math.abs(now().getTime() - triedAtMs) < (isNews ? NEWS_MS : REPEAT_MS)) return
    triedAtMs = now().getTime()
    try {
      await report(rows, now())
      reported = JSON.stringify(rows)
      isFailing = false
    } catch (error) {
      const problem = error instanceof Error ? error.message : 'unknown'
      if (!isFailing) say('the items that are not on sale could not be reported to the till', { problem })
      isFailing = true
    }
  }
}
