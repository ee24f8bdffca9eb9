/** The file of a run against the real Steam: every answer but those to logins, with stand-ins for ids and names. */
import { z } from 'zod'
import { GAMES, type Game } from '../../contract/games.ts'
import { type RawReply, recordedReply, redact } from './record.ts'
import type { Partner } from './steam.ts'

export const steamRecord = z.object({
  /** The clock of the checks stood still at this time. */
  at: z.iso.datetime(),
  game: z.enum(GAMES),
  bot: z.string(),
  partner: z.object({ steamId: z.string(), token: z.string() }),
  /** The item that an offer asked for. */
  item: z.string().nullable(),
  /** The offer was accepted, not cancelled. */
  isAccepted: z.boolean(),
  /** How many checks passed. */
  passed: z.int(),
  /** All checks passed. */
  isComplete: z.boolean(),
  replies: z.array(recordedReply),
})

export type SteamRecord = z.infer<typeof steamRecord>

/** A run before its ids and names are replaced. */
export type Run = {
  at: Date
  game: Game
  bot: string
  partner: Partner
  item: string | undefined
  isAccepted: boolean
  passed: number
  isComplete: boolean
  replies: readonly RawReply[]
}

const TOKEN = 'stand-in'

export function toRecord(run: Run): SteamRecord {
  const { replies, standIn } = redact(run.replies, [run.bot, run.partner.steamId])
  return {
    at: run.at.toISOString(),
    game: run.game,
    bot: standIn('person', run.bot),
    partner: { steamId: standIn('person', run.partner.steamId), token: TOKEN },
    item: run.item === undefined ? null : standIn('asset', run.item),
    isAccepted: run.isAccepted,
    passed: run.passed,
    isComplete: run.isComplete,
    replies,
  }
}
