/** The markets that the vault sells on, with the sealed key of each. */
import { z } from 'zod'
import type { Folder } from './folder.ts'
import type { Key } from './key.ts'

const FILE = 'markets.json'

/** The markets that have a client here. */
export const MARKETS = ['market.csgo.com', 'waxpeer.com'] as const
export type MarketName = (typeof MARKETS)[number]

const rowSchema = z.strictObject({
  market: z.enum(MARKETS),
  /** The selling account that the key belongs to. */
  steamId: z.string().regex(/^76561(?:19|20)\d{10}$/),
  sealedKey: z.string(),
  /** Items may be sold for less than they cost. */
  mayLose: z.boolean(),
  /** Lists nothing, and takes listings down. */
  isOff: z.boolean(),
})
const fileSchema = z.array(rowSchema).max(MARKETS.length)

export type MarketAccess = Omit<z.infer<typeof rowSchema>, 'sealedKey'> & { key: string }

const placeOf = (market: MarketName): string => `key of ${market}`

const rowsOf = (folder: Folder) => fileSchema.parse(JSON.parse(folder.read(FILE) ?? '[]'))
const write = (folder: Folder, rows: z.infer<typeof fileSchema>): void =>
  folder.write(FILE, `${JSON.stringify(fileSchema.parse(rows), null, 2)}\n`)

/** Throws if the file was changed, or sealed with another key. */
export function readMarkets(folder: Folder, key: Key): MarketAccess[] {
  return rowsOf(folder).map(({ sealedKey, ...row }) => ({
    ...row,
    key: key.open(sealedKey, placeOf(row.market)),
  }))
}

/** Whether the operator has switched the market off here. */
export const isSwitchedOff = (folder: Folder, market: MarketName): boolean =>
  rowsOf(folder).some((row) => row.market === market && row.isOff)

/** Adds a market, or replaces its key. */
export function keepMarket(folder: Folder, key: Key, { key: secret, ...row }: MarketAccess): void {
  const others = rowsOf(folder).filter(({ market }) => market !== row.market)
  write(folder, [...others, { ...row, sealedKey: key.seal(secret, placeOf(row.market)) }])
}

/** Returns false if there is no such market. */
export function switchMarket(folder: Folder, market: MarketName, isOff: boolean): boolean {
  const rows = rowsOf(folder)
  if (!rows.some((row) => row.market === market)) return false
  write(
    folder,
    rows.map((row) => (row.market === market ? { ...row, isOff } : row)),
  )
  return true
}
