/**
 * Compares a bot's items on Steam with those that it has according to the till's custody entries. A look is one reading
 * of the bot's inventory. Pure.
 */
import { keyOf } from '../departures/departure.ts'
import { DAY_MS } from '../kit/duration.ts'
import type { OwnItem } from '../steam/steam.ts'

/**
 * `missing`: only custody has the item. `foreign`: only Steam has it. `unnamed`: Steam did not give its asset id at the
 * delivery, and it is not yet clear which shown item of its market name it is.
 */
export type DriftKind = 'missing' | 'foreign' | 'unnamed'

/** An item that the bot has according to its custody entries. */
export type BookedItem = {
  /** Its id in the lists of items: the trade's id and the shopper's asset id, such as `12-345`. */
  item: string
  appId: number
  /** Null if Steam never gave this id. */
  assetId: string | null
  marketHashName: string
  receivedAt: Date
  /** Whether its sender can still take it back. */
  isProtected: boolean
}

export type Custody = {
  booked: readonly BookedItem[]
  /** Keys of assets that are leaving: Steam may have moved them already. */
  leaving: ReadonlySet<string>
  /** Keys of assets that entered the bot according to its custody entries. Those not in `booked` have left. */
  entered: ReadonlySet<string>
  /** The number of items in offers that may have been accepted but are not booked yet, by game and name. */
  coming: ReadonlyMap<string, number>
}

/** The items of one game. If the look is not complete, an absent item proves nothing. */
export type GameLook = { appId: number; items: readonly OwnItem[]; isComplete: boolean }

/** `item` is null for foreign items, `assetId` for items whose asset id Steam never gave. */
export type Finding = {
  kind: DriftKind
  appId: number
  item: string | null
  assetId: string | null
  marketHashName: string
}

/** `learnt`: asset ids that Steam never gave, found by the items' names. */
export type Comparison = { findings: Finding[]; learnt: { item: string; assetId: string }[] }

/** How long Steam's list can lack an item that was just traded. */
const FRESH_MS = 10 * 60_000

export const nameKey = ({ appId, marketHashName }: { appId: number; marketHashName: string }): string =>
  `${appId}/${marketHashName}`

/** `begunAt`: when the look began. Items that came shortly before it, or later, do not count as missing. */
export function compareWithCustody(custody: Custody, looks: readonly GameLook[], begunAt: Date): Comparison {
  const comparisons = looks.map((look) => compareGame(custody, look, begunAt))
  return {
    findings: comparisons.flatMap(({ findings }) => findings),
    learnt: comparisons.flatMap(({ learnt }) => learnt),
  }
}

function compareGame(custody: Custody, look: GameLook, begunAt: Date): Comparison {
  const booked = custody.booked.filter(({ appId }) => appId === look.appId)
  const isOld = ({ receivedAt }: BookedItem) => begunAt.getTime() - receivedAt.getTime() > FRESH_MS
  const ownedIds = new Set(look.items.map(({ assetId }) => assetId))
  const bookedIds = new Set(booked.flatMap(({ assetId }) => assetId ?? []))
  const missing = !look.isComplete
    ? []
    : booked.filter((item) => {
        const { appId, assetId } = item
        if (assetId === null || ownedIds.has(assetId) || !isOld(item)) return false
        return !custody.leaving.has(keyOf({ appId, assetId }))
      })
  const unbooked = Map.groupBy(
    look.items.filter(({ assetId }) => !bookedIds.has(assetId)).sort(oldestFirst),
    nameKey,
  )
  const withoutId = booked.filter(({ assetId }) => assetId === null)
  const fresh = Map.groupBy(
    withoutId.filter((item) => !isOld(item)),
    nameKey,
  )
  // A fresh item whose asset id is unknown may be in Steam's list already, where it looks as if it were not booked.
  const comingOf = (name: string) => (custody.coming.get(name) ?? 0) + (fresh.get(name)?.length ?? 0)
  const matches = [...Map.groupBy(withoutId.filter(isOld), nameKey)].map(([name, items]) =>
    matchByName({ items, among: unbooked.get(name) ?? [], coming: comingOf(name) }, custody, look),
  )
  const taken = new Set(matches.flatMap(({ taken }) => taken))
  const foreign = [...unbooked].flatMap(([name, items]) => {
    const remaining = items.filter((item) => !taken.has(item))
    // The newest items of this name may be those that are coming.
    return remaining.slice(0, Math.max(0, remaining.length - comingOf(name)))
  })
  return {
    findings: [
      ...missing.map((item) => findingOf('missing', item)),
      ...matches.flatMap(({ findings }) => findings),
      ...foreign.map((item) => findingOf('foreign', { ...item, item: null })),
    ],
    learnt: matches.flatMap(({ learnt }) => learnt),
  }
}

type NameGroup = { items: readonly BookedItem[]; among: readonly OwnItem[]; coming: number }
type NameMatch = Comparison & { taken: readonly OwnItem[] }

/**
 * Finds items without an asset id by their names. In a complete look, a single item with the name must be that item,
 * unless another item of that name is coming.
 */
function matchByName(
  { items, among, coming }: NameGroup,
  { entered }: Custody,
  { isComplete }: GameLook,
): NameMatch {
  const candidates = among.filter((asset) => !entered.has(keyOf(asset)))
  const [only] = items
  const [asset] = candidates
  const isClear = isComplete && coming === 0 && items.length === 1 && candidates.length === 1
  if (isClear && only !== undefined && asset !== undefined)
    return { findings: [], learnt: [{ item: only.item, assetId: asset.assetId }], taken: [asset] }
  const present = items.slice(0, candidates.length)
  const absent = isComplete ? items.slice(candidates.length) : []
  return {
    findings: [
      ...present.map((item) => findingOf('unnamed', item)),
      ...absent.map((item) => findingOf('missing', item)),
    ],
    learnt: [],
    taken: candidates.slice(0, items.length),
  }
}

const findingOf = (
  kind: DriftKind,
  { appId, item, assetId, marketHashName }: Omit<Finding, 'kind'>,
): Finding => ({ kind, appId, item, assetId, marketHashName })

/** Compares asset ids as numbers: Steam gives newer assets higher ids. */
function oldestFirst({ assetId: a }: OwnItem, { assetId: b }: OwnItem): number {
  return a.length - b.length || (a < b ? -1 : 1)
}

/**
 * A finding as stored. `looks`: how many looks in a row found it, with a pass through the history between any two.
 * `isSure`: certain, as `settleDrift` decides.
 */
export type KnownFinding = Finding & { firstSeenAt: Date; seenAt: Date; looks: number; isSure: boolean }

const idOf = ({ kind, appId, item, assetId }: Finding): string =>
  `${kind} ${appId} ${item ?? `asset ${assetId}`}`

/**
 * `at`: when the look ended. `historyFrom`: when the last complete pass through the history began; null before the
 * first, undefined if none is needed.
 */
export type LookResult = {
  at: Date
  looks: readonly GameLook[]
  custody: Custody
  historyFrom: Date | null | undefined
}

/** Whether the history was read after the finding was last seen, so all trades before that are booked. */
const isHistoryBooked = (historyFrom: LookResult['historyFrom'], { seenAt }: KnownFinding): boolean =>
  historyFrom === undefined || (historyFrom !== null && historyFrom > seenAt)

/**
 * Merges a look into the findings. Findings in games that were not shown completely stay while they may still be true.
 */
export function noteLook(
  before: readonly KnownFinding[],
  { findings }: Comparison,
  { at, looks, custody, historyFrom }: LookResult,
): KnownFinding[] {
  const known = new Map(before.map((noted) => [idOf(noted), noted]))
  const currentFindings = findings.map((finding): KnownFinding => {
    const earlier = known.get(idOf(finding))
    known.delete(idOf(finding))
    // This look counts only if the history was read since the last look. Otherwise the item could have come back and
    // left again between the two looks.
    if (earlier !== undefined && !isHistoryBooked(historyFrom, earlier)) return earlier
    const { firstSeenAt, looks: times, isSure } = earlier ?? { firstSeenAt: at, looks: 0, isSure: false }
    return { ...finding, firstSeenAt, seenAt: at, looks: times + 1, isSure }
  })
  const completeGames = new Set(looks.flatMap(({ appId, isComplete }) => (isComplete ? [appId] : [])))
  const shownKeys = new Set(looks.flatMap(({ items }) => items.map(keyOf)))
  const mayBeTrue = (noted: KnownFinding): boolean => {
    const { kind, appId, assetId } = noted
    const isShown = assetId !== null && shownKeys.has(keyOf({ appId, assetId }))
    return !completeGames.has(appId) && (kind === 'foreign' || !isShown) && isStillTrue(custody, noted)
  }
  return [...currentFindings, ...[...known.values()].filter(mayBeTrue)]
}

/** Whether the finding still follows from custody. */
function isStillTrue({ booked, leaving }: Custody, noted: KnownFinding): boolean {
  const { kind, appId, item, assetId, firstSeenAt } = noted
  if (kind === 'foreign') return !booked.some((other) => other.appId === appId && other.assetId === assetId)
  const currentItem = booked.find((other) => other.item === item)
  if (currentItem === undefined || currentItem.assetId !== assetId) return false
  // The item left and came back in the meantime.
  if (currentItem.receivedAt > firstSeenAt) return false
  return assetId === null || !leaving.has(keyOf({ appId, assetId }))
}

/** How many looks in a row must agree, because Steam sometimes shows an inventory without some of its items. */
const SURE_LOOKS = 2

/**
 * A difference that two looks found counts as certain if custody still differs after a later pass through the bot's
 * history: by then, all trades before the second look are booked.
 */
export function settleDrift(
  noted: readonly KnownFinding[],
  custody: Custody,
  historyFrom: LookResult['historyFrom'],
): KnownFinding[] {
  return noted
    .filter((each) => isStillTrue(custody, each))
    .map((each) => {
      const isNowSure = each.looks >= SURE_LOOKS && isHistoryBooked(historyFrom, each)
      return isNowSure ? { ...each, isSure: true } : each
    })
}

/** The time between two checks of whether the history has been read. */
const SETTLE_MS = 10 * 60_000

export type LookTimes = {
  now: Date
  lookedAt: Date | null
  /** Whether the last look showed every game completely. */
  isWhole: boolean
  /** When an operator last asked for a look. */
  askedAt: Date | null
  /** The time between two looks that must agree. */
  betweenLooksMs: number
}

/** Whether to look at the inventory on Steam now. */
export function isLookDue(noted: readonly KnownFinding[], times: LookTimes): boolean {
  const { now, lookedAt, isWhole, askedAt, betweenLooksMs } = times
  if (lookedAt === null || (askedAt !== null && askedAt >= lookedAt)) return true
  const sinceMs = now.getTime() - lookedAt.getTime()
  return sinceMs >= DAY_MS || (sinceMs >= betweenLooksMs && (!isWhole || noted.some(isDoubted)))
}

/** Whether another look must confirm the finding. */
const isDoubted = ({ isSure, looks }: KnownFinding): boolean => !isSure && looks < SURE_LOOKS

/** When to check the bot next. Not every check reads its inventory. */
export function nextCheckAt(noted: readonly KnownFinding[], times: Omit<LookTimes, 'askedAt'>): Date {
  const { now, lookedAt, isWhole, betweenLooksMs } = times
  const at = (ms: number) => new Date(now.getTime() + ms)
  if (lookedAt === null || !isWhole || noted.some(isDoubted)) return at(betweenLooksMs)
  if (noted.some(({ isSure }) => !isSure)) return at(Math.min(betweenLooksMs, SETTLE_MS))
  return new Date(lookedAt.getTime() + DAY_MS)
}
