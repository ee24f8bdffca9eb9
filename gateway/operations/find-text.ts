/** Recognises the kind of a text in the operator's search by its form. Pure. */
import { isSteamId, steamIdOfAccount } from '../../contract/steam-id.ts'
import { type ReceiptName, readReceiptName } from '../deposits/receipt-link.ts'
import { CODE_ALPHABET, CODE_LENGTH } from '../kit/ids.ts'

export type Reading =
  /** The secret part of a deposit's link. */
  | { kind: 'hash'; hash: string }
  | { kind: 'receipt'; receipt: ReceiptName }
  | { kind: 'event'; eventId: string }
  | { kind: 'steam_id'; steamId: string }
  | { kind: 'offer'; offerId: string }
  | { kind: 'asset'; assetId: string }
  /** An item as lists show it: trade number and the shopper's asset id. */
  | { kind: 'item'; tradeId: string; assetId: string }
  | { kind: 'code'; code: string }
  /** Only digits: the number of a deposit, a trade, an offer, a Steam trade, an asset or a delivery. */
  | { kind: 'number'; digits: string }
  /** A store's own id for a deposit. */
  | { kind: 'order'; externalId: string }
  /** The beginnings of words in the name of a store, a bot or an item, in lower case. */
  | { kind: 'words'; words: readonly string[] }

export type ReadText = { kind: 'read'; readings: readonly Reading[] } | { kind: 'unreadable'; why: string }

/** Limits on the lengths of a text, an order id and a word in characters, and on the number of words. */
export const LONGEST_TEXT = 512
const LONGEST_ORDER = 128
const MOST_WORDS = 8
const LONGEST_WORD = 40
/** A text with fewer letters and digits does not narrow a search for names. */
const LEAST_LETTERS = 2
const CONTROL = /\p{Cc}/u

const HASH = /^[0-9a-f]{32}$/i
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const DIGITS = /^\d{1,20}$/
const ITEM = /^([1-9]\d{0,17})-(\d{1,20})$/
const STEAM_2 = /^STEAM_[0-5]:([01]):(\d{1,10})$/i
const STEAM_3 = /^\[?U:1:(\d{1,10})\]?$/i
/** A web address. Only those of Steam and of this machine are recognised without their scheme. */
const ADDRESS = /^(?:(?:https?|steam):\/\/|(?:www\.)?steamcommunity\.com\/|localhost[:/])/i

/** Returns all possible meanings of the text, most likely first. */
export function readText(typed: string): ReadText {
  const text = typed.trim()
  if (text === '') return unreadable('There is nothing to search for.')
  if (text.length > LONGEST_TEXT) return unreadable(`The text must have at most ${LONGEST_TEXT} characters.`)
  if (CONTROL.test(text)) return unreadable('The text must be one line.')
  const readings = ADDRESS.test(text) ? readAddress(text) : [...readId(text), ...readName(text)]
  return readings.length > 0
    ? { kind: 'read', readings }
    : unreadable('This does not look like anything that the till stores.')
}

const unreadable = (why: string): ReadText => ({ kind: 'unreadable', why })

function readId(text: string): Reading[] {
  const [, lowestBit = '0', otherBits] = STEAM_2.exec(text) ?? []
  const [, account] = STEAM_3.exec(text) ?? []
  const [, tradeId, assetId] = ITEM.exec(text) ?? []
  return [
    ...(HASH.test(text) ? [{ kind: 'hash', hash: text.toLowerCase() } as const] : []),
    ...(UUID.test(text) ? [{ kind: 'event', eventId: text.toLowerCase() } as const] : []),
    ...(otherBits === undefined ? [] : ofAccount(String(BigInt(otherBits) * 2n + BigInt(lowestBit)))),
    ...(account === undefined ? [] : ofAccount(account)),
    ...(isSteamId(text) ? [{ kind: 'steam_id', steamId: text } as const] : []),
    ...(DIGITS.test(text) ? [{ kind: 'number', digits: text } as const] : []),
    ...(tradeId === undefined || assetId === undefined ? [] : [{ kind: 'item', tradeId, assetId } as const]),
    ...(isCode(text.toUpperCase()) ? [{ kind: 'code', code: text.toUpperCase() } as const] : []),
    ...(text.length <= LONGEST_ORDER ? [{ kind: 'order', externalId: text } as const] : []),
  ]
}

const isCode = (text: string): boolean =>
  text.length === CODE_LENGTH && [...text].every((letter) => CODE_ALPHABET.includes(letter))

/** Returns no reading for an impossible account number. */
function ofAccount(account: string): Reading[] {
  const steamId = steamIdOfAccount(account)
  return isSteamId(steamId) ? [{ kind: 'steam_id', steamId }] : []
}

/** Returns no reading for a hash, an event's id or digits, or for a text that is too short to narrow the search. */
function readName(text: string): Reading[] {
  if (HASH.test(text) || UUID.test(text) || DIGITS.test(text)) return []
  const words = text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .slice(0, MOST_WORDS)
    .map((word) => word.slice(0, LONGEST_WORD))
  return words.join('').length < LEAST_LETTERS ? [] : [{ kind: 'words', words }]
}

const OFFER_PATH = /^\/tradeoffer\/(\d{1,20})\/?$/
const PROFILE_PATH = /^\/profiles\/(\d{17})(?:\/|$)/
const LINK_PATH = /^\/(?:deposit\/)?([0-9a-f]{32})\/?$/i
const RECEIPT_PATH = /^\/receipt\/([\w-]{1,60})\/?$/
const ASSET_FRAGMENT = /^#\d{1,10}_\d{1,20}_(\d{1,20})$/

/** Ignores the host of a web address, because the till and the Steam sandbox may be at any host. */
function readAddress(text: string): Reading[] {
  const url = URL.parse(/^\w{1,5}:\/\//.test(text) ? text : `https://${text}`)
  if (url === null) return []
  const { protocol, host, pathname, hash, searchParams } = url
  if (protocol === 'steam:') {
    const shownOffer = /^\/ShowTradeOffer\/(\d{1,20})\/?$/i.exec(pathname)?.[1]
    return host.toLowerCase() === 'url' && shownOffer !== undefined
      ? [{ kind: 'offer', offerId: shownOffer }]
      : []
  }
  const partner = searchParams.get('partner') ?? ''
  if (pathname.startsWith('/tradeoffer/new')) return /^\d{1,10}$/.test(partner) ? ofAccount(partner) : []
  const [, offerId] = OFFER_PATH.exec(pathname) ?? []
  if (offerId !== undefined) return [{ kind: 'offer', offerId }]
  const [, assetId] = ASSET_FRAGMENT.exec(hash) ?? []
  if (assetId !== undefined) return [{ kind: 'asset', assetId }]
  const [, steamId] = PROFILE_PATH.exec(pathname) ?? []
  if (steamId !== undefined && isSteamId(steamId)) return [{ kind: 'steam_id', steamId }]
  const receipt = readReceiptName(RECEIPT_PATH.exec(pathname)?.[1] ?? '')
  if (receipt !== undefined) return [{ kind: 'receipt', receipt }]
  const [, link] = LINK_PATH.exec(pathname) ?? []
  return link === undefined ? [] : [{ kind: 'hash', hash: link.toLowerCase() }]
}
