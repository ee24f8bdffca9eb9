/** Crashes a primary under load, and promotes its synchronous standby, which must have all that was acknowledged. */
import { setTimeout as delay } from 'node:timers/promises'
import { verifyLedger } from '../../gateway/ledger/verify.ts'
import { checkTill, countWork } from '../kill/check.ts'
import { startLoad } from '../kill/load.ts'
import { settle, untilDelivered } from '../kill/rounds.ts'
import { countLeases, openProcessTill, untilAnswering, untilBotsOnline } from '../kill/till.ts'
import { seededRandom } from '../random.ts'
import { startRedirectProxy } from '../restore/redirect-proxy.ts'
import { type FailoverResult, untilApiAnswers, untilBotsWork } from './rounds.ts'
import { crashServer, startServer, startStandby } from './server.ts'

/** Keeps the load's random numbers apart from those of the round. */
const LOAD_SEED = 3_000_000
/** The least time for which the standby is synchronous before the crash. The actual time is less than twice as long. */
const LEAST_LIFE_MS = 5_000

export type PromotedResult = Pick<FailoverResult, 'problems' | 'times' | 'counts'>

export async function promotedRound(folder: string, seed: number): Promise<PromotedResult> {
  const random = seededRandom(seed)
  const proxy = await startRedirectProxy()
  const primary = await startServer(`${folder}/primary`)
  const redirectTo = (url: string) => proxy.redirectTo(Number(new URL(url).port))
  redirectTo(primary.url)
  const proxyUrl = new URL(primary.url)
  proxyUrl.port = String(proxy.port)
  const settings = { TRADETILL_AFTER_FAILOVER: 'epoch' }
  const till = await openProcessTill(proxyUrl.href, `promoted-${seed}`, { settings })
  const gateway = till.start()
  const standby = await startStandby(primary, `${folder}/standby`)
  const load = startLoad(till, seededRandom(LOAD_SEED + seed))
  try {
    await untilAnswering(till, gateway)
    await untilBotsOnline(till)
    await standby.makeSynchronous()
    const confirmedBefore = load.confirmedIds.length
    await delay(LEAST_LIFE_MS + random.int(LEAST_LIFE_MS))
    const leases = await countLeases(till)
    crashServer(primary)
    const confirmed = load.confirmedIds.length - confirmedBefore
    await primary.died
    await standby.promote()
    redirectTo(standby.url)
    const beganMs = performance.now()
    await untilApiAnswers(till)
    const apiMs = performance.now() - beganMs
    await untilBotsOnline(till, leases)
    await untilBotsWork(till)
    const botsMs = performance.now() - beganMs
    if (gateway.hasEnded()) throw new Error(`the gateway ended:\n${gateway.output()}`)
    const problems = (await verifyLedger(till.pool)).map(({ problem, detail }) => `${problem}: ${detail}`)
    if (confirmed === 0)
      problems.push(
        'no deposit was confirmed while commits waited for the standby, so this round proves nothing',
      )
    await untilDelivered(till)
    await load.stopVisits()
    await settle(till)
    await load.end()
    problems.push(...(await checkTill(till, load.confirmedIds)), ...(await epochProblems(till)))
    return { problems, times: [{ kind: 'synchronous', apiMs, botsMs }], counts: await countWork(till) }
  } finally {
    await load.end()
    await gateway.interrupt()
    // Closing may fail, because the database of the till may have no server.
    await till.close().catch(() => {})
    await primary.stop()
    await standby.stop()
    await proxy.close()
  }
}

/** Checks that the till has noticed the promotion and begun one new epoch. */
async function epochProblems({ pool }: Parameters<typeof countLeases>[0]): Promise<string[]> {
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::int as n from event where type = 'epoch.started' and sequence is not null`,
  )
  const newEpochs = rows[0]?.n ?? 0
  return newEpochs === 1 ? [] : [`${newEpochs} epochs began after the failover`]
}
