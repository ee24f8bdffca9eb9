/** Compares this machine's clock with Steam's. The database's clock proves little: it is often on the same machine. */
import { MOST_APART_MS, type SteamTime } from '../steam/steam-time.ts'
import { ageText, type Finding, good, mend, notChecked, timeServerAdvice } from './finding.ts'

export function steamClockFindings(time: SteamTime): Finding[] {
  const check = 'clock.steam'
  if (time.kind === 'failed') return [notChecked(check, time.reason)]
  const aheadMs = time.machineMs - time.steamMs
  if (Math.abs(aheadMs) <= MOST_APART_MS) return [good(check, 'agrees with the clock of Steam')]
  const says = `${ageText(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of Steam`
  return [mend(check, says, timeServerAdvice('this machine'))]
}
