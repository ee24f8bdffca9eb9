/** Steam's clock, with which a machine's clock can be compared. */
import { z } from 'zod'
import { reasonOf } from '../kit/reason.ts'

/** A public call without a key. Its answer has Steam's time in seconds. */
const SERVER_INFO = new URL('https://api.steampowered.com/ISteamWebAPIUtil/GetServerInfo/v1/')
const DEADLINE_MS = 10_000
/** How far the two clocks may differ. An answer can take ten seconds; stores refuse webhooks five minutes off. */
export const MOST_APART_MS = 30_000

const infoSchema = z.object({ servertime: z.number() })

export type SteamTime =
  | { kind: 'answered'; steamMs: number; machineMs: number }
  | { kind: 'failed'; reason: string }

export async function askSteamTime(nowMs: () => number, url: URL = SERVER_INFO): Promise<SteamTime> {
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(DEADLINE_MS) })
    const { data } = infoSchema.safeParse(await answer.json())
    if (data === undefined) return { kind: 'failed', reason: 'Steam’s answer has no time' }
    return { kind: 'answered', steamMs: data.servertime * 1000, machineMs: nowMs() }
  } catch (error) {
    return { kind: 'failed', reason: `Steam’s time could not be read: ${reasonOf(error)}` }
  }
}
