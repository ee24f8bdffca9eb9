/** A tar archive (ustar) with gzip. The same entries and time give the same bytes. */
import { gzipSync } from 'node:zlib'

export type Entry =
  /** `path` is relative to the archive's root, with slashes. */
  | { kind: 'file'; path: string; content: Buffer; isExecutable?: boolean }
  | { kind: 'link'; path: string; target: string }

/** The size of a block, and of the two header fields for a path, in the format of tar. */
const BLOCK_BYTES = 512
const NAME_BYTES = 100
const PREFIX_BYTES = 155
/** Where the checksum begins in a header, in bytes. */
const CHECKSUM_AT = 148

/** Returns the archive: entries sorted by path, owned by root, all with the same time. */
export function archiveOf(entries: readonly Entry[], modifiedS: number): Buffer {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1))
  const blocks = sorted.flatMap((entry) => {
    const content = entry.kind === 'file' ? entry.content : Buffer.alloc(0)
    const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES)
    return [headOf(entry, modifiedS), content, padding]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]))
}

/**
 * Returns the header of an entry. POSIX 1003.1 fixes the order of its fields: name, mode, owner, group, size, time,
 * checksum, type, target of a link, `ustar` with its version, names of owner and group, device numbers, prefix.
 */
function headOf(entry: Entry, modifiedS: number): Buffer {
  const isFile = entry.kind === 'file'
  const { name, prefix } = nameOf(entry.path)
  const size = isFile ? entry.content.length : 0
  const mode = isFile && entry.isExecutable !== true ? 0o644 : 0o755
  const fields: [text: string, bytes: number][] = [
    [name, NAME_BYTES],
    [octal(mode, 8), 8],
    [octal(0, 8), 8],
    [octal(0, 8), 8],
    [octal(size, 12), 12],
    [octal(modifiedS, 12), 12],
    // The checksum is computed with spaces in its own field.
    [' '.repeat(8), 8],
    [isFile ? '0' : '2', 1],
    [isFile ? '' : entry.target, NAME_BYTES],
    // Two literals, because `\000` in one would be an octal escape.
    ['ustar\0' + '00', 8],
    ['root', 32],
    ['root', 32],
    ['', 16],
    [prefix, PREFIX_BYTES],
  ]
  const head = Buffer.alloc(BLOCK_BYTES)
  let at = 0
  for (const [text, bytes] of fields) {
    head.write(text, at, bytes, 'utf8')
    at += bytes
  }
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${octal(sum, 7)}\0 `, CHECKSUM_AT, 8, 'latin1')
  return head
}

/** Returns the digits of a numeric field, without the NUL byte that ends it. */
const octal = (value: number, bytes: number): string => value.toString(8).padStart(bytes - 1, '0')

/** Splits a long path at a slash into the header's fields `name` and `prefix`. */
function nameOf(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES) return { name: path, prefix: '' }
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    if (Buffer.byteLength(name) <= NAME_BYTES && Buffer.byteLength(prefix) <= PREFIX_BYTES)
      return { name, prefix }
  }
  throw new Error(`${path} is too long for the archive.`)
}
