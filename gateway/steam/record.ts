/** A record of Steam's answers, without anything that identifies people. Pure. */
import { z } from 'zod'
import { accountOf, isSteamId, steamIdOfAccount } from '../../contract/steam-id.ts'
import {
  HEADERS,
  isField,
  isSteamsWord,
  KEYS_OF,
  NAMED_PROFILE,
  PATHS,
  type Rule,
  ruleOf,
} from './record-fields.ts'

/** One answer of Steam, unchanged. */
export type RawReply = {
  method: string
  url: string
  status: number
  headers: Record<string, string | string[] | undefined>
  body: unknown
}

export const recordedReply = z.object({
  method: z.string(),
  /** Host and path. */
  place: z.string(),
  query: z.record(z.string(), z.unknown()),
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.unknown(),
})

export type RecordedReply = z.infer<typeof recordedReply>

type IdKind = Extract<Rule, 'person' | 'asset' | 'offer' | 'trade'>

export type Redacted = {
  replies: RecordedReply[]
  /** Returns the stand-in for this value in the record. */
  standIn(rule: Rule, value: string): string
}

/** The most characters of a kept value, of a value that `blank` returns, and of a page. */
const MOST_KEPT = 200
const MOST_REPLACED = 20
const MOST_PAGE = 64 * 1024
/** The most characters of one of Steam's sentences, or of a page that is not XML. */
const MOST_SENTENCE = 2_000
const MOST_DEPTH = 20
/** No Steam account has a number near this. */
const FIRST_ACCOUNT = 4_000_000_001n
/** The fewest digits of a stand-in for any other id. */
const FEWEST_DIGITS = 10

/**
 * Keeps the values that the rules in `record-fields.ts` let stay, and replaces the rest with values of the same type and
 * form. An id has the same stand-in everywhere, and the stand-ins keep the order of the ids.
 */
export function redact(replies: readonly RawReply[], people: readonly string[] = []): Redacted {
  const seenIds: Record<IdKind, Set<string>> = {
    person: new Set(people.map(accountNumber)),
    asset: new Set(),
    offer: new Set(),
    trade: new Set(),
  }
  for (const reply of replies) {
    redactReply(reply, (rule, value) => {
      if (isIdKind(rule) && isId(value)) seenIds[rule].add(rule === 'person' ? accountNumber(value) : value)
      return value
    })
  }
  const ids = {
    person: standInsOf(seenIds.person, () => FIRST_ACCOUNT),
    asset: standInsOf(seenIds.asset, firstId),
    offer: standInsOf(seenIds.offer, firstId),
    trade: standInsOf(seenIds.trade, firstId),
  }
  const change: Change = (rule, value) => {
    if (!isIdKind(rule)) return replaceText(rule, value)
    if (!isId(value)) return value === '0' ? value : blank(value)
    if (rule !== 'person') return ids[rule].get(value) ?? blank(value)
    const account = ids.person.get(accountNumber(value))
    if (account === undefined) return blank(value)
    return isSteamId(value) ? steamIdOfAccount(account) : account
  }
  return { replies: replies.map((reply) => redactReply(reply, change)), standIn: change }
}

type Change = (rule: Rule | undefined, value: string) => string

const isIdKind = (rule: Rule | undefined): rule is IdKind =>
  rule === 'person' || rule === 'asset' || rule === 'offer' || rule === 'trade'
const isId = (value: string): boolean => /^[1-9]\d{0,19}$/.test(value)
const accountNumber = (value: string): string => (isSteamId(value) ? accountOf(value) : value)

/**
 * Returns the stand-ins by id: consecutive numbers in the order of the ids. `first` gets the number of digits of the
 * longest id, or FEWEST_DIGITS if that is more.
 */
function standInsOf(ids: ReadonlySet<string>, first: (digits: number) => bigint): Map<string, string> {
  const sorted = [...ids].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const start = first(Math.max(FEWEST_DIGITS, ...sorted.map((id) => id.length)))
  return new Map(sorted.map((id, index) => [id, String(start + BigInt(index))]))
}

const firstId = (digits: number): bigint => 10n ** BigInt(digits - 1) + 1n

function redactReply(reply: RawReply, change: Change): RecordedReply {
  const url = new URL(reply.url)
  return {
    method: reply.method,
    place: `${url.host}${redactPath(url.pathname, change)}`,
    query: redactFields(Object.fromEntries(url.searchParams), change, { depth: 0 }),
    status: reply.status,
    headers: Object.fromEntries(
      HEADERS.flatMap((name): [string, string][] => {
        const value = reply.headers[name]
        return typeof value === 'string' && /^[\w /;=.+-]{1,80}$/.test(value) ? [[name, value]] : []
      }),
    ),
    body:
      typeof reply.body === 'string'
        ? redactPage(reply.body, change)
        : redactValue(reply.body, undefined, { change, depth: 0 }),
  }
}

function redactPath(pathname: string, change: Change): string {
  let before = ''
  return pathname
    .split('/')
    .map((part) => {
      const rule = before === NAMED_PROFILE ? 'name' : /^\d+$/.test(part) ? PATHS.get(before) : 'keep'
      before = part
      // A short number, such as that of a game, identifies nobody.
      return rule === undefined && part.length <= 6 ? part : change(rule, part)
    })
    .join('/')
}

type Place = { change: Change; depth: number }

function redactValue(value: unknown, rule: Rule | undefined, { change, depth }: Place): unknown {
  if (typeof value === 'string') return change(rule, value)
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') {
    const changed = Number(change(rule, String(value)))
    return Number.isFinite(changed) ? changed : 0
  }
  if (typeof value !== 'object' || value === null || depth > MOST_DEPTH) return null
  if (Array.isArray(value)) return value.map((each) => redactValue(each, rule, { change, depth: depth + 1 }))
  return redactFields(value, change, { depth })
}

function redactFields(
  owner: object,
  change: Change,
  { depth, keys }: { depth: number; keys?: Rule | undefined },
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(owner).map(([field, value]: [string, unknown]) => {
      const name = keys === undefined ? fieldName(field) : change(keys, field)
      const inner = KEYS_OF.get(field)
      const isKeyed =
        inner !== undefined && typeof value === 'object' && value !== null && !Array.isArray(value)
      return [
        name,
        isKeyed
          ? redactFields(value, change, { depth: depth + 1, keys: inner })
          : redactValue(value, ruleOf(field, owner), { change, depth: depth + 1 }),
      ]
    }),
  )
}

/** Keeps the names that `isField` accepts, short numbers, and `CLASS_INSTANCE`, by which Steam keys descriptions. */
const fieldName = (field: string): string =>
  isField(field) || /^(?:\d{1,3}|\d{1,20}_\d{1,20})$/.test(field) ? field : maskText(field)

function replaceText(rule: Rule | undefined, value: string): string {
  switch (rule) {
    case 'keep':
      return value.length <= MOST_KEPT ? value : blank(value)
    case 'name':
      return maskText(value)
    case 'line':
      return redactLine(value)
    case 'sentence':
      return redactSentence(value)
    case 'picture':
      return redactPicture(value)
    case 'message':
      // The message of an offer that `port-checks.ts` sent.
      return /^LIVE-[0-9A-Z]{1,16}$/.test(value) ? value : maskText(value)
    default:
      return blank(value)
  }
}

/** The value may be a key or a token. Only two facts stay: whether it is a number, and its length up to 20. */
function blank(value: string): string {
  return (/^-?[\d.]+$/.test(value) ? '0' : 'x').repeat(Math.min(value.length, MOST_REPLACED))
}

/** Replaces letters, digits and all that is not ASCII. Spaces and ASCII punctuation stay in their places. */
function maskText(value: string): string {
  return value
    .replace(/\p{Lu}/gu, 'X')
    .replace(/[^X\P{L}]/gu, 'x')
    .replace(/\p{N}/gu, '0')
    .replace(/[^ -~\s]/g, '*')
}

const DATES =
  /\b[A-Z][a-z]{2} \d{1,2}, 20\d\d \(\d{1,2}:\d\d:\d\d\) GMT|\[date\]\d{9,11}\[\/date\]|\(\d{1,2}:\d\d:\d\d\)/g

/** Keeps the dates, because the till reads them. */
function redactLine(value: string): string {
  let at = 0
  let redacted = ''
  for (const date of value.matchAll(DATES)) {
    redacted += maskText(value.slice(at, date.index)) + date[0]
    at = date.index + date[0].length
  }
  return redacted + maskText(value.slice(at))
}

function redactSentence(value: string): string {
  return value
    .slice(0, MOST_SENTENCE)
    .replace(/[\p{L}\p{N}_]+/gu, (word) => (isSteamsWord(word) ? word : blank(word)))
    .replace(/[^ -~\s]/g, '*')
}

const PICTURE = /^(https:\/\/[\w-]{1,40}(?:\.[\w-]{1,40}){0,3}\.(?:steamstatic\.com|akamaihd\.net)\/)/

function redactPicture(value: string): string {
  const [host] = PICTURE.exec(value) ?? []
  const [, hash, rest = ''] = /\/([0-9a-f]{16,64})((?:_medium|_full)?\.jpg)$/.exec(value) ?? []
  return host === undefined || hash === undefined ? blank(value) : `${host}${'a'.repeat(hash.length)}${rest}`
}

const CDATA = '<![CDATA['

/** Redacts an XML page, such as a profile, field by field, and any other page as one of Steam's sentences. */
function redactPage(text: string, change: Change): string {
  const body = text.slice(0, MOST_PAGE)
  if (!/^\s*<(?:\?xml|profile>|response>)/.test(body)) return change('sentence', body)
  let [at, tag, redacted] = [0, '', '']
  while (at < body.length) {
    const isQuoted = body.startsWith(CDATA, at)
    const isTag = !isQuoted && body[at] === '<'
    const endMark = isQuoted ? ']]>' : isTag ? '>' : '<'
    const foundAt = body.indexOf(endMark, at)
    const end = foundAt === -1 ? body.length : foundAt + (endMark === '<' ? 0 : endMark.length)
    const part = body.slice(at, end)
    if (isTag) {
      tag = /^<([A-Za-z0-9]{1,40})>$/.exec(part)?.[1] ?? ''
      redacted += /^<\/?[A-Za-z0-9]{1,40}>$|^<\?xml [\w "'=.-]{0,80}\?>$/.test(part) ? part : '<x>'
    } else if (isQuoted) {
      const inner = foundAt === -1 ? '' : part.slice(CDATA.length, -endMark.length)
      redacted += `${CDATA}${change(ruleOf(tag, {}), inner)}]]>`
    } else redacted += part.trim() === '' ? part : change(ruleOf(tag, {}), part.trim())
    at = end
  }
  return redacted
}
