/**
 * Parses raw pages of a bot's own inventory. Counts unreadable rows, so an incomplete inventory is not mistaken for a
 * complete one.
 */
import { z } from 'zod'
import { count, descriptionKey, flag, id, ownedRow, plainText, rows, success } from './parse.ts'
import type { OfferAsset, OwnItem } from './steam.ts'

/** `total`: how many items Steam counts in all; null if it does not say. */
export type OwnPage = { items: OwnItem[]; unreadable: number; total: number | null; next: string | null }

const MAX_NAME_CHARACTERS = 200

/** A page with more than 5,000 items is unreadable. We ask for 1,000. */
const apiPage = z.object({
  response: z.object({
    assets: z.array(z.unknown()).max(5_000).optional(),
    descriptions: z.array(z.unknown()).max(5_000).catch([]).default([]),
    more_items: flag.default(false),
    last_assetid: id.optional(),
    total_inventory_count: count.optional(),
  }),
})

const olderPage = z.object({
  success,
  more: flag.default(false),
  more_start: z.union([count, z.literal(false)]).catch(false),
  rgInventory: rows,
  rgDescriptions: rows,
})

const nameRow = descriptionKey.extend({ market_hash_name: z.string() })

type Place = Pick<OfferAsset, 'appId' | 'contextId'>

/** `nothing`: Steam gave neither items nor their number, as it does for a caller that made too many requests. */
export function parseOwnPage(body: unknown, place: Place): OwnPage | 'nothing' | undefined {
  const page = apiPage.safeParse(body)
  if (!page.success) return undefined
  const {
    assets,
    descriptions,
    more_items: isMore,
    last_assetid: last,
    total_inventory_count: total,
  } = page.data.response
  if (assets === undefined && total === undefined) return 'nothing'
  if (isMore && last === undefined) return undefined
  const parsedRows = readRows(assets ?? [], descriptions, place)
  return { ...parsedRows, total: total ?? null, next: isMore ? (last ?? null) : null }
}

/** Parses a page of `/profiles/…/inventory/json`, Steam's older call. */
export function parseOlderOwnPage(body: unknown, place: Place): OwnPage | undefined {
  const page = olderPage.safeParse(body)
  if (!page.success) return undefined
  const { more, more_start: start, rgInventory, rgDescriptions } = page.data
  if (more && start === false) return undefined
  const parsedRows = readRows(Object.values(rgInventory), Object.values(rgDescriptions), place)
  return { ...parsedRows, total: null, next: more ? String(start) : null }
}

function readRows(assets: readonly unknown[], descriptions: readonly unknown[], place: Place) {
  const names = new Map<string, string>()
  for (const row of descriptions) {
    const parsed = nameRow.safeParse(row)
    if (!parsed.success) continue
    const { classid, instanceid, market_hash_name: name } = parsed.data
    names.set(`${classid}_${instanceid}`, plainText(name).slice(0, MAX_NAME_CHARACTERS))
  }
  const items = assets.flatMap((row): OwnItem[] => {
    const owned = ownedRow.safeParse(row)
    const assetId = owned.data?.assetid ?? owned.data?.id
    if (!owned.success || assetId === undefined) return []
    const { classid, instanceid } = owned.data
    return [{ ...place, assetId, marketHashName: names.get(`${classid}_${instanceid}`) ?? '' }]
  })
  return { items, unreadable: assets.length - items.length }
}
