/** Stores the last seen state of the database in a file of the data folder, so a restore does not change it. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { makeFolder } from '../kit/make-folder.ts'
import type { Life, SeenState } from './epoch.ts'

export type Memory = {
  /** Returns undefined if no state of the database was kept, or if its file is unreadable. */
  lastSeen(life: Life): SeenState | undefined
  keep(life: Life, seen: SeenState): void
}

const int8 = z.coerce.bigint()
const seenSchema = z.object({
  epoch: int8,
  beganAt: z.iso.datetime().pipe(z.coerce.date()).nullable().default(null),
  timeline: int8.nullable(),
  written: int8.nullable(),
})

/** Each database has its own file, because a folder may be used with several of them over time. */
const nameOf = ({ systemIdentifier, databaseOid }: Life): string =>
  `seen-${systemIdentifier ?? 'unknown'}-${databaseOid}.json`

/** Reports an unreadable or unwritable file once. The state is also kept in memory. */
export function createMemory(folder: string, onFailure: (error: unknown) => void): Memory {
  const cachedStates = new Map<string, SeenState | undefined>()
  let isReported = false
  const report = (error: unknown): void => {
    if (!isReported) onFailure(error)
    isReported = true
  }
  return {
    lastSeen(life) {
      const name = nameOf(life)
      if (!cachedStates.has(name)) cachedStates.set(name, readSeen(join(folder, name), report))
      return cachedStates.get(name)
    },
    keep(life, seen) {
      const name = nameOf(life)
      cachedStates.set(name, seen)
      try {
        makeFolder(folder)
        const file = join(folder, name)
        writeFileSync(`${file}.tmp`, JSON.stringify(seen, asText), { mode: 0o600 })
        renameSync(`${file}.tmp`, file)
      } catch (error) {
        report(error)
      }
    },
  }
}

const asText = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

function readSeen(file: string, report: (error: unknown) => void): SeenState | undefined {
  try {
    return seenSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isAbsent) report(error)
    return undefined
  }
}
