import { pino } from 'pino'
import { scrub } from './scrub.ts'

export type Log = pino.Logger

export type LogOptions = {
  level?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** One readable line instead of JSON, for a person at a terminal. */
  pretty?: boolean
  write?: (line: string) => void
}

const SECRET_KEYS = new Set([
  'apikey',
  'authorization',
  'cookie',
  'set-cookie',
  'x-csrf-token',
  'token',
  'tradeurl',
  'refreshtoken',
  'refresh_token',
  'accesstoken',
  'access_token',
  'sessionid',
  'steamloginsecure',
  'identitysecret',
  'identity_secret',
  'sharedsecret',
  'shared_secret',
  'secret',
  'webhooksecret',
  'webhook_secret',
  'user_token',
  'partner_token',
  'password',
  'masterkey',
])

/** In these fields of an error, PostgreSQL quotes the failed row or query, which may contain a secret. */
const ROW_FIELDS = new Set(['detail', 'where', 'internalquery', 'parameters'])

const HIDDEN = '[redacted]'
/** Values nested deeper than this are not shown. */
const MOST_DEPTH = 6
/** The most characters of a line. Most lines have a few hundred; the line of a failed query has a few thousand. */
const MOST_LINE_CHARACTERS = 64 * 1024
/** The most characters of a line, and of its message, that are kept if the line is too long. */
const MOST_CUT_CHARACTERS = 8 * 1024
const TOO_DEEP = '[not shown: too deep]'

/**
 * Creates a logger of JSON lines on stderr. It hides secrets twice: by the name of their field, and by their form in
 * the finished line, because an error's message may quote anything.
 */
export function createLog(options: LogOptions = {}): Log {
  const write = options.write ?? ((line: string) => process.stderr.write(line))
  return pino(
    {
      level: options.level ?? 'info',
      base: null,
      // Pino's own serializer would undo the work of hideSecretFields.
      serializers: { err: (fields: unknown) => fields },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => hideSecretFields(fields, 0) as Record<string, unknown>,
      },
    },
    { write: (line: string) => write(safeLine(line, options.pretty ?? false)) },
  )
}

function safeLine(line: string, isPretty: boolean): string {
  const safe = escapeControls(scrub(line.length > MOST_LINE_CHARACTERS ? shortenLine(line) : line))
  return isPretty ? pretty(safe) : safe
}

/** Wraps the beginning of a line that is too long into a valid line. */
function shortenLine(line: string): string {
  const { level, time, msg } = JSON.parse(line) as Record<string, unknown>
  const cut = {
    level,
    time,
    cut: line.slice(0, MOST_CUT_CHARACTERS),
    msg: String(msg ?? '').slice(0, MOST_CUT_CHARACTERS),
  }
  return `${JSON.stringify(cut)}\n`
}

/** JSON escapes only the first 32 control characters, but terminals obey others too. */
function escapeControls(line: string): string {
  return line.replace(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)
}

/** The first six digits of a deposit's hash: enough to find it in a log, useless as a key. */
export function shortHash(hash: string): string {
  return hash.slice(0, 6)
}

function hideSecretFields(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MOST_DEPTH) return TOO_DEEP
  if (value instanceof Error) return errorFields(value, depth)
  if (value instanceof Date || Buffer.isBuffer(value)) return Buffer.isBuffer(value) ? HIDDEN : value
  if (Array.isArray(value)) return value.map((entry) => hideSecretFields(entry, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, hideField(key.toLowerCase(), entry, depth)]),
  )
}

function errorFields(error: Error, depth: number): Record<string, unknown> {
  const fields = Object.entries(error).filter(([key]) => !ROW_FIELDS.has(key.toLowerCase()))
  return {
    type: error.constructor.name,
    message: error.message,
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: hideSecretFields(error.cause, depth + 1) }),
    ...(error instanceof AggregateError ? { errors: hideSecretFields(error.errors, depth + 1) } : {}),
    ...Object.fromEntries(fields.map(([key, entry]) => [key, hideField(key.toLowerCase(), entry, depth)])),
  }
}

function hideField(key: string, value: unknown, depth: number): unknown {
  if (SECRET_KEYS.has(key)) return HIDDEN
  if (key === 'hash' && typeof value === 'string') return shortHash(value)
  return hideSecretFields(value, depth + 1)
}

function pretty(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${escapeControls(JSON.stringify(value))}`)
  const timeOfDay = String(time).slice(11, 19)
  return `${[timeOfDay, String(level).toUpperCase().padEnd(5), printable(String(msg ?? '')), ...rest].join(' ')}\n`
}

/** Control characters in a message could forge lines or drive the terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}
