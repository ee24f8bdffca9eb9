/** Calls to sources on the web. No answer is trusted, and the size of each is limited. */
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'

/** The most bytes of a decoded answer. The longest known answer lists 30,000 items with all their sales. */
const MAX_BYTES = 64 * 1024 * 1024
/** The longest pause that a source can ask for. */
export const MAX_RETRY_AFTER_MS = 6 * 3_600_000
/** The pause after a 429 or 403 without Retry-After: the longest window in which a source is known to count calls. */
const RATE_LIMITED_MS = 5 * 60_000

/** A source's answer cannot be used. `retryAfterMs`: how long to pause; null: no pause. */
export class SourceError extends Error {
  readonly retryAfterMs: number | null
  constructor(message: string, retryAfterMs: number | null = null) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** GETs JSON within the signal's deadline. Throws unless the answer is complete and has status 200. */
export async function getJson(url: URL, signal: AbortSignal, maxBytes = MAX_BYTES): Promise<unknown> {
  const text = await getText(url, signal, { maxBytes, accept: 'application/json' })
  try {
    return JSON.parse(text)
  } catch {
    throw new SourceError(`answered text that is not JSON, ${text.length} characters`)
  }
}

/** GETs a text within the signal's deadline. Throws unless the answer is complete and has status 200. */
export async function getText(
  url: URL,
  signal: AbortSignal,
  { maxBytes, accept }: { maxBytes: number; accept: string },
): Promise<string> {
  const response = await fetch(url, {
    signal,
    redirect: 'error',
    headers: { accept, 'accept-encoding': 'br, gzip', 'user-agent': 'Tradetill' },
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new SourceError(`answered ${response.status}`, retryAfterMs(response))
  }
  return readText(response, maxBytes)
}

function retryAfterMs({ status, headers }: Response): number | null {
  const seconds = /^\d{1,6}$/.exec(headers.get('retry-after') ?? '')?.[0]
  if (seconds !== undefined) return Math.min(Number(seconds) * 1000, MAX_RETRY_AFTER_MS)
  return status === 429 || status === 403 ? RATE_LIMITED_MS : null
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new SourceError(`answered more than ${maxBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Returns the parsed answer, or throws an error that names the problem. */
export function readAnswer<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body)
  if (!parsed.success)
    throw new SourceError(`answered in an unexpected form: ${z.prettifyError(parsed.error).slice(0, 500)}`)
  return parsed.data
}

const ROWS_AT_ONCE = 1_000

/**
 * Returns the valid rows. Parses them in portions, so no shopper's call waits for all of them. Leaves out a few
 * invalid rows, but throws if more than a tenth are invalid: a changed form must not look like missing items.
 */
export async function readRows<Schema extends z.ZodType>(
  schema: Schema,
  rows: readonly unknown[],
): Promise<z.output<Schema>[]> {
  const validRows: z.output<Schema>[] = []
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    for (const row of rows.slice(start, start + ROWS_AT_ONCE)) {
      const parsed = schema.safeParse(row)
      if (parsed.success) validRows.push(parsed.data)
    }
    await setImmediate()
  }
  if (validRows.length < rows.length * 0.9) {
    throw new SourceError(
      `answered ${rows.length} rows, of which ${rows.length - validRows.length} are invalid`,
    )
  }
  return validRows
}
