/** The file with the address of a data folder's embedded database. Commands read it to use the gateway's database. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/**
 * `ownerUrl` is for the role that may change tables, `vaultUrl` for the vault's role. `steamSandboxUrl`: the Steam
 * sandbox of the gateway; absent if the gateway has no sandbox.
 */
const connectionSchema = z.object({
  url: z.string(),
  ownerUrl: z.string(),
  vaultUrl: z.string(),
  steamSandboxUrl: z.string().optional(),
})

export type Connection = z.infer<typeof connectionSchema>

/** Written when the database starts, and removed when it stops; a kill leaves it behind. Contains passwords. */
export const connectionFileOf = (dataDir: string): string => join(dataDir, 'connection.json')

/**
 * The addresses in the file of `dataDir`. Undefined without a file: then no database runs. After a kill, none may run.
 */
export function runningDatabase(dataDir: string): Connection | undefined {
  const file = connectionFileOf(dataDir)
  if (!existsSync(file)) return undefined
  return connectionSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
}
