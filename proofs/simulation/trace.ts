/** A line-by-line record of a run. Two runs of one seed must have the same hash. */

export type Trace = {
  add(line: string): void
  /** 16 hex digits over all lines so far. */
  hash(): string
  /** The last lines, or all of them if the trace keeps all. */
  lines(): readonly string[]
}

/** A trace keeps at least this many of its latest lines. */
const KEPT = 60
/** The multipliers of the hash, which resembles FNV-1a and has two halves of 32 bits. */
const MULTIPLIERS = [0x01000193, 0x85ebca6b] as const

export function createTrace({ keepAll = false } = {}): Trace {
  let low = 0x811c9dc5
  let high = 0x9747b28c
  let lines: string[] = []
  return {
    add(line) {
      for (let index = 0; index < line.length; index += 1) {
        const code = line.charCodeAt(index)
        low = Math.imul(low ^ code, MULTIPLIERS[0])
        high = Math.imul(high ^ code, MULTIPLIERS[1]) ^ (high >>> 15)
      }
      low = Math.imul(low ^ 10, MULTIPLIERS[0])
      lines.push(line)
      if (!keepAll && lines.length > 2 * KEPT) lines = lines.slice(-KEPT)
    },
    hash: () => hex(low) + hex(high),
    lines: () => lines,
  }
}

const hex = (half: number): string => (half >>> 0).toString(16).padStart(8, '0')

/** One hash over the hashes of many seeds, in order. */
export function hashOf(hashes: readonly string[]): string {
  const trace = createTrace()
  for (const hash of hashes) trace.add(hash)
  return trace.hash()
}
