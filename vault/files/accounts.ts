/** The accounts that the vault may give items from, with the sealed secrets of their phones. */
import { z } from 'zod'
import { isSteamId } from '../../contract/steam-id.ts'
import type { Folder } from './folder.ts'
import { checkContent, readJson } from './json.ts'
import { type Key, openSealed } from './key.ts'

const FILE = 'accounts.json'
const STEAM_ID = z.string().refine(isSteamId)
const SECRET = z.string().regex(/^[A-Za-z0-9+/]{27}=$/, 'must be a secret of 20 bytes in base64')

export const isSecret = (text: string): boolean => SECRET.safeParse(text).success

const secretsSchema = z.strictObject({
  accountName: z.string().min(1).max(64),
  /** A refresh token of the mobile app, because only its sessions can see confirmations. */
  refreshToken: z.string().min(1).max(4_096),
  sharedSecret: SECRET,
  identitySecret: SECRET,
})

/** `sells`: true for a selling account, from which no wish of the till may take items. */
const rowSchema = z.strictObject({ steamId: STEAM_ID, sells: z.boolean(), sealed: z.string() })
const fileSchema = z.array(rowSchema).max(1_000)

export type Secrets = z.infer<typeof secretsSchema>
export type Account = { steamId: string; sells: boolean; secrets: Secrets }

const placeOf = (steamId: string): string => `account ${steamId}`

/** Reads the accounts. Throws if their secrets were changed, or sealed with another key. */
export function readAccounts(folder: Folder, key: Key): Account[] {
  return rowsOf(folder).map(({ steamId, sells, sealed }) => ({
    steamId,
    sells,
    secrets: secretsSchema.parse(
      JSON.parse(openSealed(folder, key, { name: FILE, sealed, place: placeOf(steamId) })),
    ),
  }))
}

/**
 * Adds the account, or replaces its secrets. Without `sells`, a known account keeps its value, and a new account gets
 * false. Returns the new value and the previous one, which is undefined if the account is new.
 */
export function saveAccount(
  folder: Folder,
  key: Key,
  { steamId, ...account }: Omit<Account, 'sells'> & { sells?: boolean | undefined },
): { previousSells: boolean | undefined; sells: boolean } {
  const secrets = secretsSchema.parse(account.secrets)
  const rows = rowsOf(folder)
  const previousSells = rows.find((row) => row.steamId === steamId)?.sells
  const sells = account.sells ?? previousSells ?? false
  const row = { steamId, sells, sealed: key.seal(JSON.stringify(secrets), placeOf(steamId)) }
  const others = rows.filter((other) => other.steamId !== steamId)
  folder.write(FILE, `${JSON.stringify(fileSchema.parse([...others, row]), null, 2)}\n`)
  return { previousSells, sells }
}

const rowsOf = (folder: Folder) =>
  checkContent(folder, { name: FILE, schema: fileSchema, content: readJson(folder, FILE, []) })
