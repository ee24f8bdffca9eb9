import { isSteamId } from '../../contract/steam-id.ts'
import { linksIn } from '../link/pasted.ts'

/**
 * `profile`, `offer`: a link to one of these, or the number of a profile. `incomplete`: a trade link with a missing or
 * invalid part. `inexact`: one trade link, but not exactly as Steam shows it: for example, inside a sentence.
 */
export const MISTAKES = ['profile', 'offer', 'incomplete', 'several', 'inexact', 'other'] as const

export type Mistake = (typeof MISTAKES)[number]

const PROFILE = /steamcommunity\.com\/(?:id|profiles)\//i
const OFFER = /steamcommunity\.com\/tradeoffer\/\d/i
const TRADE_PAGE = /steamcommunity\.com\/tradeoffer\/new/i

/** Returns the mistake in a text that is not a trade link. */
export function mistakeIn(text: string): Mistake {
  const linkCount = linksIn(text).size
  if (linkCount > 0) return linkCount > 1 ? 'several' : 'inexact'
  if (TRADE_PAGE.test(text)) return 'incomplete'
  if (OFFER.test(text)) return 'offer'
  return PROFILE.test(text) || isSteamId(text.trim()) ? 'profile' : 'other'
}
