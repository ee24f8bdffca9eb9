/**
 * Steam's error texts. Some quote the partner's persona name, which can be any 32 characters. So a pattern here
 * is longer than that, or anchored at both ends of the text, and no name can forge a match. A result number counts only
 * in a sentence that quotes no name, or in the one sentence that ends with the number, after the name.
 */
import type { RefusedReason } from './steam.ts'

const TRY_LATER = /^There was an error sending your trade offer\. Please try again later\. (?=\S)/
const NUMBERED =
  /^There was an error \w{4,12} (?:your|this) trade offer\. Please try again later\. \((\d{1,3})\)$/

/** The partner's inventory is hidden. The rest of the sentence differs from page to page. */
const PRIVATE = / inventory privacy is set to "Private"/

const REFUSING_TEXTS: readonly (readonly [RegExp, RefusedReason])[] = [
  [/ is not available to trade\. More information will be shown to /, 'partner_cannot_trade'],
  [/^You cannot trade with .* because they have a trade ban\.?$/, 'partner_trade_ban'],
  [/^You cannot trade with .* \(34\)$/, 'renamed'],
  [/^This person has a limited account\b/, 'partner_cannot_trade'],
  [PRIVATE, 'partner_cannot_trade'],
  [/^This Trade URL is no longer valid for sending a trade offer to /, 'invalid_token'],
  [/^Trade Offers can only be sent to friends\./, 'invalid_token'],
  [/^You have logged in from a new device/, 'bot_cannot_trade'],
  [/^You must have had Steam Guard enabled for at least 15 days/, 'bot_cannot_trade'],
  [/sent too many trade offers, or have too many outstanding trade offers/, 'too_many_to_partner'],
  [/^You have sent too many trade offers\b/, 'too_many_in_all'],
  [/maximum number of items allowed in your /, 'inventory_full'],
  // The text continues: 'Your trade offer has not been sent.'
  [/ unable to contact the game's item server\b/, 'item_server_down'],
]

const HIDDEN_TEXTS: readonly RegExp[] = [/^This profile is private\.?$/, PRIVATE]

/** The result number of a failure, such as 26; undefined if the text has none that can be trusted. */
export function resultIn(text: string): number | undefined {
  const digits = NUMBERED.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Why Steam refuses; undefined if the text leaves a doubt. */
export function refusalIn(text: string): RefusedReason | undefined {
  const cause = text.replace(TRY_LATER, '')
  return REFUSING_TEXTS.find(([pattern]) => pattern.test(cause))?.[1]
}

export function saysHidden(text: string): boolean {
  return HIDDEN_TEXTS.some((pattern) => pattern.test(text))
}

/** The text without markup and with single spaces, cut to 1000 characters. */
export function cleanText(text: string): string {
  return text
    .slice(0, 1000)
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
