/** The file with the address of a data folder's embedded database. Commands read it to use the gateway's database. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** The addresses of the gateway that runs on the data folder. `steamSandboxUrl`, `console`: absent if it has none. */
const addressesSchema = z.object({
  steamSandboxUrl: z.string().optional(),
  publicUrl: z.string().optional(),
  console: z.object({ url: z.string(), host: z.string(), port: z.number() }).optional(),
})

export type GatewayAddresses = z.infer<typeof addressesSchema>

/**
 * `ownerUrl` is for the role that may change tables, `vaultUrl` for the vault's role. An embedded database without a
 * gateway has none of the gateway's addresses.
 */
const connectionSchema = addressesSchema.extend({
  url: z.string(),
  ownerUrl: z.string(),
  vaultUrl: z.string(),
})

export type EmbeddedAddresses = z.infer<typeof connectionSchema>

/** Written when the database starts, and removed when it stops; a kill leaves it behind. Contains passwords. */
export const connectionFileOf = (dataDir: string): string => join(dataDir, 'connection.json')

/**
 * Returns the addresses in the file of `dataDir`; undefined without a file, because then no database runs. A file that
 * a kill left behind may point to a database that no longer runs.
 */
export function runningDatabase(dataDir: string): EmbeddedAddresses | undefined {
  const file = connectionFileOf(dataDir)
  if (!existsSync(file)) return undefined
  return connectionSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
}
