/**
 * The vault's memory: entries are only ever added, and each is signed together with the one before it. Only this log
 * tells the vault what it did, so no write to the database makes it forget.
 */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { type Folder, syncFolder } from './folder.ts'
import { KEY_FILE, type Key } from './key.ts'

const FILE = 'log.jsonl'
/** Written to the vault's folder once a log exists, so the vault notices if its log is deleted. */
const BEGUN_FILE = 'log.begun'
const LINE_BREAK = '\n'.charCodeAt(0)
/** How much of the file is read at a time: after years, the whole file would be too long for one string. */
const PART_BYTES = 1024 * 1024

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
  /** Reads all entries from the file again, oldest first. Memory keeps none, because the log grows for years. */
  entries(): Iterable<Entry>
  /**
   * Returns once the entry is safely on the disk. Throws if it cannot be written; the vault must then not act, and the
   * next call first removes any part that was written.
   */
  add(entry: Entry['entry'], at: Date): Entry
  close(): void
}

/**
 * Reads the log and keeps it open. Throws if anyone else changed or added an entry, or removed one that is followed by
 * another. A loss of only the last entries goes unnoticed (docs/selling.md).
 */
export function openLog(folder: Folder, key: Key): VaultLog {
  const file = folder.at(FILE)
  let { count, lastMac, length } = checkChain(folder, key)
  const handle = openSync(file, 'a', 0o600)
  /** Cuts off an incomplete entry. The vault has not acted on it. */
  const cutOff = (): void => {
    ftruncateSync(handle, length)
    fsyncSync(handle)
  }
  cutOff()
  if (folder.read(BEGUN_FILE) === undefined) folder.write(BEGUN_FILE, '')
  syncFolder(dirname(file))
  let isIncomplete = false
  return {
    entries: () => readChain(folder, key),
    add(entry, at) {
      const unsigned = { n: count + 1, at: at.toISOString(), before: lastMac, entry }
      const line: Line = { ...unsigned, mac: macOf(key, unsigned) }
      const text = `${JSON.stringify(line)}\n`
      if (isIncomplete) cutOff()
      // The lock of the folder does not reach other containers or machines that share it.
      if (fstatSync(handle).size !== length)
        throw new Error(
          `${file} was changed by another process, so this one gives nothing. Stop one of them.`,
        )
      // Stays true if the write or the sync throws.
      isIncomplete = true
      // Unlike `writeSync`, throws if the disk takes only a part of the entry.
      writeFileSync(handle, text)
      fsyncSync(handle)
      isIncomplete = false
      count = line.n
      lastMac = line.mac
      length += Buffer.byteLength(text)
      return { n: line.n, at, entry }
    },
    close: () => closeSync(handle),
  }
}

/** Reads the entries of a log that another process may have open. */
export const readLog = (folder: Folder, key: Key): Iterable<Entry> => readChain(folder, key)

/** The error for an entry that this version cannot read. If it were skipped, its items could be given twice. */
export const unreadableEntry = (n: number, cause: unknown): Error =>
  new Error(
    `Entry ${n} of the vault's log is one that this version cannot read. Start the version that wrote it.`,
    { cause },
  )

const macOf = (key: Key, { n, at, before, entry }: Omit<Line, 'mac'>): string =>
  key.mac(JSON.stringify([n, at, before, entry]))

/** `length`: of the complete entries, in bytes. */
type Chain = { count: number; lastMac: string; length: number }

function checkChain(folder: Folder, key: Key): Chain {
  const entries = readChain(folder, key)
  for (;;) {
    const next = entries.next()
    if (next.done) return next.value
  }
}

function* readChain(folder: Folder, key: Key): Generator<Entry, Chain, undefined> {
  const file = folder.at(FILE)
  const chain: Chain = { count: 0, lastMac: '', length: 0 }
  if (!folder.has(FILE)) {
    if (folder.read(BEGUN_FILE) === undefined) return chain
    throw new Error(
      `${file} is missing. Without it the vault does not know what it gave: restore it from a backup.`,
    )
  }
  for (const line of completeLines(file)) {
    const parsed = lineOf(line.toString('utf8'))
    const n = chain.count + 1
    if (parsed === undefined || parsed.n !== n || parsed.before !== chain.lastMac) throw changedEntry(n, file)
    if (parsed.mac !== macOf(key, parsed)) throw n === 1 ? otherKey(folder) : changedEntry(n, file)
    chain.count = n
    chain.lastMac = parsed.mac
    chain.length += line.length + 1
    yield { n, at: new Date(parsed.at), entry: parsed.entry }
  }
  return chain
}

const changedEntry = (n: number, file: string): Error =>
  new Error(
    `Entry ${n} of ${file} is not what the vault wrote. The vault gives nothing until the log is restored.`,
  )

/**
 * The error for a wrong signature of entry 1, which a wrong key also causes. It names the key, so nobody restores an
 * older log, which lacks gifts, although only the key is wrong.
 */
const otherKey = (folder: Folder): Error =>
  new Error(
    `${folder.at(KEY_FILE)} is not the key that signed ${folder.at(FILE)}, or entry 1 of the log was changed. The vault gives nothing until the right file is restored.`,
  )

/** Yields the lines of a file without their line breaks. Omits text after the last line break: it is incomplete. */
function* completeLines(file: string): Generator<Buffer> {
  const handle = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(PART_BYTES)
    let lineParts: Buffer[] = []
    for (let size = readSync(handle, buffer); size > 0; size = readSync(handle, buffer)) {
      const text = Buffer.from(buffer.subarray(0, size))
      let start = 0
      for (let end = text.indexOf(LINE_BREAK); end !== -1; end = text.indexOf(LINE_BREAK, start)) {
        yield Buffer.concat([...lineParts, text.subarray(start, end)])
        lineParts = []
        start = end + 1
      }
      lineParts.push(text.subarray(start))
    }
  } finally {
    closeSync(handle)
  }
}

function lineOf(text: string): Line | undefined {
  try {
    return lineSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
