/** Watches whether this machine's clock is right. By that clock, webhooks are signed and prices dated. */
import type { Gauge } from 'prom-client'
import type { TillClock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { askSteamTime, MOST_APART_MS } from '../steam/steam-time.ts'

type Deps = {
  clock: Pick<TillClock, 'machineNow'>
  log: Log
  gauge: Gauge
  ask?: typeof askSteamTime
}

/** If Steam does not answer, the metric keeps the last difference. */
export async function watchClock({ clock, log, gauge, ask = askSteamTime }: Deps): Promise<void> {
  const time = await ask(() => clock.machineNow().getTime())
  if (time.kind === 'failed') return
  const aheadMs = time.machineMs - time.steamMs
  gauge.set(aheadMs / 1_000)
  if (Math.abs(aheadMs) <= MOST_APART_MS) return
  log.error({ aheadMs }, 'the clock of this machine is wrong: it differs from the clock of Steam')
}
