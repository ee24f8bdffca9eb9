/** Compares this machine's clock with Steam's. The database's clock proves little: it is often on the same machine. */
import { z } from 'zod'
import { reasonOf } from '../kit/reason.ts'
import { ageText, type Finding, good, mend, notChecked, timeServerAdvice } from './finding.ts'
import { ask } from './public-probe.ts'

/** A public call without a key. Its answer has Steam's time in seconds. */
const SERVER_INFO = new URL('https://api.steampowered.com/ISteamWebAPIUtil/GetServerInfo/v1/')
/** An answer can take ten seconds. Stores refuse webhooks that are five minutes off. */
const MOST_APART_MS = 30_000

const infoSchema = z.object({ servertime: z.number() })

type SteamTime = { kind: 'answered'; steamMs: number; machineMs: number } | { kind: 'failed'; reason: string }

export async function askSteamTime(nowMs: () => number, url: URL = SERVER_INFO): Promise<SteamTime> {
  try {
    const { data } = infoSchema.safeParse(await (await ask(url)).json())
    if (data === undefined) return { kind: 'failed', reason: 'Steam’s answer has no time' }
    return { kind: 'answered', steamMs: data.servertime * 1000, machineMs: nowMs() }
  } catch (error) {
    return { kind: 'failed', reason: `Steam’s time could not be read: ${reasonOf(error)}` }
  }
}

export function steamClockFindings(time: SteamTime): Finding[] {
  const check = 'clock.steam'
  if (time.kind === 'failed') return [notChecked(check, time.reason)]
  const aheadMs = time.machineMs - time.steamMs
  if (Math.abs(aheadMs) <= MOST_APART_MS) return [good(check, 'agrees with the clock of Steam')]
  const says = `${ageText(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of Steam`
  return [mend(check, says, timeServerAdvice('this machine'))]
}
