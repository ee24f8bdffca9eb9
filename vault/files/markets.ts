/** The accounts from which the vault sells, by market, each with its sealed key. */
import { z } from 'zod'
import { MARKETS, type MarketName } from '../../contract/markets.ts'
import { isSteamId } from '../../contract/steam-id.ts'
import type { Folder } from './folder.ts'
import { checkContent, readJson } from './json.ts'
import { type Key, openSealed } from './key.ts'

const FILE = 'markets.json'

const rowSchema = z.strictObject({
  market: z.enum(MARKETS),
  /** The account that the key belongs to. A selling account, or the bot that `sellsItself`. */
  steamId: z.string().refine(isSteamId),
  sealedKey: z.string(),
  /** True if items may be sold for less than they cost, or (unless `sellsItself`) without a known cost. */
  mayLose: z.boolean(),
  /** True if the account lists nothing and takes its listings down. */
  isOff: z.boolean(),
  /** True if the account is a bot that collects deposits, and the operator lets the market have one of its sessions. */
  sellsItself: z.boolean().default(false),
})
const fileSchema = z.array(rowSchema).max(100)

export type MarketAccess = Omit<z.infer<typeof rowSchema>, 'sealedKey'> & { key: string }

const placeOf = (market: MarketName): string => `key of ${market}`

const rowsOf = (folder: Folder) =>
  checkContent(folder, { name: FILE, schema: fileSchema, content: readJson(folder, FILE, []) })
const write = (folder: Folder, rows: z.infer<typeof fileSchema>): void =>
  folder.write(FILE, `${JSON.stringify(fileSchema.parse(rows), null, 2)}\n`)

/** Reads the accounts. Throws if a sealed key was altered, or was sealed with a different vault key. */
export function readMarkets(folder: Folder, key: Key): MarketAccess[] {
  return rowsOf(folder).map(({ sealedKey, ...row }) => ({
    ...row,
    key: openSealed(folder, key, { name: FILE, sealed: sealedKey, place: placeOf(row.market) }),
  }))
}

type AccountAtMarket = Pick<MarketAccess, 'market' | 'steamId'>

const isSameAccount =
  ({ market, steamId }: AccountAtMarket) =>
  (row: AccountAtMarket): boolean =>
    row.market === market && row.steamId === steamId

/** True if the operator has switched the account off at this market. */
export const isSwitchedOff = (folder: Folder, at: AccountAtMarket): boolean =>
  rowsOf(folder).some((row) => isSameAccount(at)(row) && row.isOff)

/**
 * Adds an account at a market, or replaces its key and flags. An account that is switched off stays off: its operator
 * may change the key because somebody else has it. Returns whether it is off.
 */
export function saveMarket(
  folder: Folder,
  key: Key,
  { key: secret, ...row }: Omit<MarketAccess, 'isOff'>,
): { isOff: boolean } {
  const rows = rowsOf(folder)
  const known = rows.find(isSameAccount(row))
  const isOff = known?.isOff ?? false
  const saved = { ...row, isOff, sealedKey: key.seal(secret, placeOf(row.market)) }
  write(folder, known === undefined ? [...rows, saved] : rows.map((each) => (each === known ? saved : each)))
  return { isOff }
}

/** Switches all accounts at a market, or only one, off or on. Returns false if no account matches. */
export function switchMarket(
  folder: Folder,
  { market, steamId }: { market: MarketName; steamId?: string | undefined },
  isOff: boolean,
): boolean {
  const rows = rowsOf(folder)
  const matches = (row: AccountAtMarket): boolean =>
    row.market === market && (steamId ?? row.steamId) === row.steamId
  if (!rows.some(matches)) return false
  write(
    folder,
    rows.map((row) => (matches(row) ? { ...row, isOff } : row)),
  )
  return true
}
