/**
 * The operator's accounts to which bots may give items without an alarm. The list is in the environment, so somebody
 * who controls the database cannot add to it.
 */
import { z } from 'zod'
import { isSteamId } from '../../contract/steam-id.ts'
import type { Destinations } from './departure.ts'

const MOST_DESTINATIONS = 100
const ENTRY = /^([a-z0-9][a-z0-9-]{0,39}):(\d{17})$/

/** Pairs of `NAME:STEAMID`, separated by commas. No name and no account may appear twice. */
export const destinationsSchema = z.string().transform((text, context): Destinations => {
  const destinations = new Map<string, string>()
  const accounts = new Set<string>()
  for (const entry of text.split(',')) {
    const [, name, steamId] = ENTRY.exec(entry.trim()) ?? []
    const isPair = name !== undefined && steamId !== undefined && isSteamId(steamId)
    const isNew = isPair && !destinations.has(name) && !accounts.has(steamId)
    if (!isNew || destinations.size === MOST_DESTINATIONS) {
      const message = `must be at most ${MOST_DESTINATIONS} pairs of a lower-case name and a person's 64-bit Steam id, separated by commas, with no name and no id twice, such as storage:76561198000000000`
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    }
    destinations.set(name, steamId)
    accounts.add(steamId)
  }
  return destinations
})
