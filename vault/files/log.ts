/**
 * The vault's memory: entries are only ever added, and each is signed together with the one before it. The vault knows
 * what it did from this log alone, so no write to the database makes it forget.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { type Folder, syncFolder } from './folder.ts'
import type { Key } from './key.ts'

const FILE = 'log.jsonl'
/** Written to the vault's folder once a log exists, so the vault notices if its log is deleted. */
const BEGUN_FILE = 'log.begun'
const LINE_BREAK = '\n'.charCodeAt(0)

const lineSchema = z.strictObject({
  n: z.int().positive(),
  at: z.iso.datetime(),
  before: z.string(),
  entry: z.json(),
  mac: z.string(),
})

type Line = z.infer<typeof lineSchema>
export type Entry = { n: number; at: Date; entry: z.infer<typeof lineSchema>['entry'] }

export type VaultLog = {
  entries(): readonly Entry[]
  /** Returns once the entry is safely on the disk. Throws if it cannot be written; the vault must then not act. */
  add(entry: Entry['entry'], at: Date): Entry
  close(): void
}

/**
 * Reads the log and keeps it open. Throws if anyone else changed or added an entry, or removed one that is followed by
 * another. A loss of only the last entries goes unnoticed (docs/selling.md).
 */
export function openLog(folder: Folder, key: Key): VaultLog {
  const file = folder.at(FILE)
  const { entries, lastMac, length } = readChain(folder, key)
  const handle = openSync(file, 'a', 0o600)
  // Cuts off an incomplete last entry: the vault stopped while writing, so it had not acted on the entry yet.
  ftruncateSync(handle, length)
  fsyncSync(handle)
  if (folder.read(BEGUN_FILE) === undefined) folder.write(BEGUN_FILE, '')
  syncFolder(dirname(file))
  const all = [...entries]
  let before = lastMac
  let isBroken = false
  return {
    entries: () => all,
    add(entry, at) {
      if (isBroken) throw new Error('An earlier write to the log of the vault failed. Restart the vault.')
      const unsigned = { n: all.length + 1, at: at.toISOString(), before, entry }
      const line: Line = { ...unsigned, mac: macOf(key, unsigned) }
      // Stays true if the write or the sync throws.
      isBroken = true
      // Unlike `writeSync`, throws if the disk takes only a part of the entry.
      writeFileSync(handle, `${JSON.stringify(line)}\n`)
      fsyncSync(handle)
      isBroken = false
      before = line.mac
      const added = { n: line.n, at, entry }
      all.push(added)
      return added
    },
    close: () => closeSync(handle),
  }
}

/** Reads the entries of a log that another process may have open. */
export const readLog = (folder: Folder, key: Key): readonly Entry[] => readChain(folder, key).entries

const macOf = (key: Key, { n, at, before, entry }: Omit<Line, 'mac'>): string =>
  key.mac(JSON.stringify([n, at, before, entry]))

function readChain(folder: Folder, key: Key) {
  const file = folder.at(FILE)
  if (!existsSync(file)) {
    if (folder.read(BEGUN_FILE) === undefined) return { entries: [], lastMac: '', length: 0 }
    throw new Error(
      `${file} is missing. Without it the vault does not know what it gave: restore it from a backup.`,
    )
  }
  // Throws if another user may read or write the file.
  folder.read(FILE)
  const text = readFileSync(file)
  // The text after the last line break is incomplete.
  const length = text.lastIndexOf(LINE_BREAK) + 1
  const entries: Entry[] = []
  let lastMac = ''
  for (const line of text.subarray(0, length).toString('utf8').split('\n').slice(0, -1)) {
    const parsed = lineOf(line)
    const n = entries.length + 1
    if (
      parsed === undefined ||
      parsed.n !== n ||
      parsed.before !== lastMac ||
      parsed.mac !== macOf(key, parsed)
    ) {
      throw new Error(
        `Entry ${n} of ${file} is not what the vault wrote. The vault gives nothing until the log is restored.`,
      )
    }
    entries.push({ n, at: new Date(parsed.at), entry: parsed.entry })
    lastMac = parsed.mac
  }
  return { entries, lastMac, length }
}

function lineOf(text: string): Line | undefined {
  try {
    return lineSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
