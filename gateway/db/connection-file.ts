/** The address of a database that was started for a data folder, for the commands that work on the same one. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** `ownerUrl`: of the role that may change tables. `vaultUrl`: of the vault's. */
const connectionSchema = z.object({ url: z.string(), ownerUrl: z.string(), vaultUrl: z.string() })

export type Connection = z.infer<typeof connectionSchema>

/** Exists while the database runs. Holds its password. */
export const connectionFileOf = (dataDir: string): string => join(dataDir, 'connection.json')

/** Undefined if no database runs for `dataDir`. */
export function runningDatabase(dataDir: string): Connection | undefined {
  const file = connectionFileOf(dataDir)
  if (!existsSync(file)) return undefined
  return connectionSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
}
