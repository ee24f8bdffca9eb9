import { z } from 'zod'
import { accountOf } from '../../../contract/steam-id.ts'
import { VISIBLE } from '../../../contract/visible-text.ts'
import { type HttpResult, unavailableFrom } from '../outcomes.ts'
import { plainText } from '../parse.ts'
import type { ProfileAnswer, Unavailable } from '../steam.ts'
import type { Call } from './connection.ts'

/** Steam's own picture for accounts without one. */
const DEFAULT_AVATAR = 'fef49e7fa7e1997310d705b2a6158ff8dc1cdfeb'
const MAX_NAME_CHARACTERS = 64
const MOST_LEVEL = 99_999
/** The most characters to read. The name and the picture come before the text that the account's owner wrote. */
const MOST_XML_CHARACTERS = 64 * 1024

export type ProfileHosts = {
  /** The address of avatars, without a slash at the end. */
  avatarBase: string
  /** The address of profile pages, without a slash at the end. */
  communityBase: string
}

type Ask = (call: Call) => Promise<HttpResult | Unavailable>

const miniProfile = z.object({
  level: z.int().nonnegative().catch(0),
  avatar_url: z.string().max(500).catch(''),
  persona_name: z.string().max(500),
})

/**
 * Reads the public profile from two pages that need no session. The XML page shows whether the account exists and since
 * when, and the miniprofile has the level. Either page is enough for the name.
 */
export async function readProfile(ask: Ask, steamId: string, hosts: ProfileHosts): Promise<ProfileAnswer> {
  const [page, mini] = await Promise.all([
    ask({
      name: 'profile',
      url: `https://steamcommunity.com/profiles/${steamId}/`,
      query: { xml: 1 },
      proof: 'none',
      text: true,
    }),
    ask({
      name: 'miniprofile',
      url: `https://steamcommunity.com/miniprofile/${accountOf(steamId)}/json`,
      proof: 'none',
    }),
  ])
  const xml = page.kind === 'reply' && page.status === 200 ? parseXml(page.body, steamId) : undefined
  if (xml === null) return { kind: 'unknown_account' }
  const miniData =
    mini.kind === 'reply' && mini.status === 200 ? miniProfile.safeParse(mini.body).data : undefined
  // A miniprofile without a name proves nothing: Steam sends one for an account that does not exist, too.
  const isKnown = xml?.name !== undefined || Boolean(miniData?.persona_name)
  if (!isKnown) return page.kind === 'unavailable' ? page : unavailableFrom('profile', page)
  const shownName = visibleName(xml?.name || miniData?.persona_name || '')
  return {
    kind: 'profile',
    profile: {
      steamId,
      // An invisible name must not keep its owner from paying.
      name: shownName || steamId,
      avatarUrl: avatarUrl(xml?.avatar || miniData?.avatar_url || '', hosts.avatarBase),
      profileUrl: `${hosts.communityBase}/profiles/${steamId}`,
      level: Math.min(miniData?.level ?? 0, MOST_LEVEL),
      memberSince: xml?.memberSince ?? null,
    },
  }
}

/** The name in plain text, cut to its limit; empty if nothing of it can be seen. */
function visibleName(name: string): string {
  const plainName = [...plainText(name)].slice(0, MAX_NAME_CHARACTERS).join('')
  return VISIBLE.test(plainName) ? plainName : ''
}

/** `name`: undefined if it cannot be read. */
type Page = { name: string | undefined; avatar: string; memberSince: string | null }

/** null: Steam says that there is no such account. undefined: anything else, such as a page about rate limits. */
function parseXml(page: unknown, steamId: string): Page | null | undefined {
  if (typeof page !== 'string') return undefined
  const body = page.slice(0, MOST_XML_CHARACTERS)
  if (/^(?:<\?xml[^>]*\?>)?\s*<response>\s*<error>/.test(body)) {
    // Other errors, such as too many requests, do not mean that the account is unknown.
    return textOf(body, 'error')?.includes('could not be found') ? null : undefined
  }
  if (textOf(body, 'steamID64') !== steamId) return undefined
  return {
    name: textOf(body, 'steamID'),
    avatar: textOf(body, 'avatarFull') ?? '',
    memberSince: dayIn(textOf(body, 'memberSince') ?? ''),
  }
}

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)

/** `March 9, 2011` → `2011-03-09`. Steam writes the day in English, and leaves it out of a private profile. */
function dayIn(text: string): string | null {
  const [, month = '', dayOfMonth = '', year = ''] = /^([A-Z][a-z]{2,8}) (\d{1,2}), (\d{4})$/.exec(text) ?? []
  const number = MONTHS.indexOf(month) + 1
  if (number === 0) return null
  const day = `${year}-${String(number).padStart(2, '0')}-${dayOfMonth.padStart(2, '0')}`
  const date = new Date(`${day}T00:00:00Z`)
  // `Date` turns a day that the month lacks into a day of the next month.
  return date.toJSON()?.startsWith(day) === true ? day : null
}

const CDATA = '<![CDATA['

/**
 * The text of the first element with this tag; undefined if there is none, or if it has other markup. The search takes
 * linear time, because the page may be hostile.
 */
function textOf(xml: string, tag: string): string | undefined {
  const start = xml.indexOf(`<${tag}>`)
  if (start === -1) return undefined
  const inner = xml.slice(start + tag.length + 2).trimStart()
  const isQuoted = inner.startsWith(CDATA)
  const end = inner.indexOf(isQuoted ? ']]>' : '<')
  if (end === -1) return undefined
  if (isQuoted) return inner.slice(CDATA.length, end).trim()
  return inner.startsWith(`</${tag}>`, end) ? inner.slice(0, end).trim() : undefined
}

/** Takes only the picture's hash from Steam's answer, and only from a URL of a Steam host. */
function avatarUrl(url: string, avatarBase: string): string {
  const { protocol, hostname, pathname } = URL.canParse(url) ? new URL(url) : new URL('http://none')
  const isTrusted = protocol === 'https:' && /(^|\.)(steamstatic\.com|akamaihd\.net)$/.test(hostname)
  const hash = isTrusted ? /\/([0-9a-f]{16,64})(?:_medium|_full)?\.jpg$/.exec(pathname)?.[1] : undefined
  return `${avatarBase}/${hash ?? DEFAULT_AVATAR}_full.jpg`
}
