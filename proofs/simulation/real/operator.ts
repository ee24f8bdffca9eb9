/**
 * The operator of the real level, who retires bots, releases credit early, and credits deliveries that Steam never
 * reported.
 */
import { sql } from 'kysely'
import { actOnBot } from '../../../gateway/bots/operator.ts'
import type { Tx } from '../../../gateway/db/client.ts'
import { inTransaction } from '../../../gateway/db/transaction.ts'
import { insertAct } from '../../../gateway/operations/store.ts'
import { sweepTrades } from '../../../gateway/trades/jobs.ts'
import { recordByOperator } from '../../../gateway/trades/operator.ts'
import type { SteamOffer } from '../steam-memory.ts'
import { must } from '../violation.ts'
import { startInProcess } from './process.ts'
import type { Process, Scene } from './scene.ts'

/** The time between checks of the process: longer than any pause of a process. */
const CHECK_MS = 300_000

/**
 * Runs `work` in a live process. Runs it again after a lost connection or a serialization failure, and if its process
 * dies, because the work then never ends.
 */
export function runInLiveProcess(scene: Scene, work: (process: Process) => Promise<unknown>): void {
  const { engine, processes } = scene
  const process = processes.find(({ isAlive }) => isAlive)
  const again = () => engine.after(1_000, () => runInLiveProcess(scene, work))
  if (process === undefined) {
    again()
    return
  }
  const { run } = process
  let isOver = false
  const end = () => {
    isOver = true
  }
  const failed = () => {
    end()
    again()
  }
  startInProcess(scene, () => work(process).then(end), failed)
  const checkProcess = () => {
    if (isOver) return
    if (process.isAlive && process.run === run) engine.after(CHECK_MS, checkProcess)
    else again()
  }
  engine.after(CHECK_MS, checkProcess)
}

const recordAct = (tx: Tx, at: Date, { act, details }: { act: string; details: object }): Promise<void> =>
  insertAct(tx, { at, operator: 'Ada', act, arguments: JSON.stringify(details), reason: 'simulated' })

/** Retires a bot like the command `bot retire`. */
export async function retire({ deps }: Process, steamId: string): Promise<void> {
  await inTransaction(deps.db, async (tx) => {
    const answer = await actOnBot(tx, steamId, 'retire')
    if (answer.kind !== 'done') return
    await recordAct(tx, deps.clock.now(), { act: 'bot retire', details: { botId: String(answer.botId) } })
  })
  await sweepTrades(deps)
}

/** Releases every third trade early, like the command `deposit release`. `timesMs`: from now. */
export function releaseEarly(scene: Scene, timesMs: readonly number[]): void {
  for (const ms of timesMs)
    scene.engine.after(ms, () => runInLiveProcess(scene, (process) => releaseEveryThird(scene, process)))
}

async function releaseEveryThird({ faults }: Scene, { deps }: Process): Promise<void> {
  const { rows } = await sql<{ id: bigint; depositId: bigint }>`
    select id, deposit_id as "depositId" from trade where state = 'held' and held_amount > 0 and id % 3 = 0
    order by id`.execute(deps.db)
  for (const { id: tradeId, depositId } of rows) {
    await inTransaction(deps.db, async (tx) => {
      const fact = { kind: 'operator_releases_early' } as const
      await recordByOperator(deps, tx, { depositId, tradeId, fact })
      const { released_early: isReleased } = await tx
        .selectFrom('trade')
        .select('released_early')
        .where('id', '=', tradeId)
        .executeTakeFirstOrThrow()
      if (!isReleased) return
      const details = { tradeIds: [String(tradeId)] }
      await recordAct(tx, deps.clock.now(), { act: 'deposit release', details })
      faults.note('credit released early by an operator')
    })
  }
}

/**
 * Credits like the command `trade credit`. `afterMs`: when the till has given up all deliveries that Steam never
 * reported.
 */
export function creditByHand(scene: Scene, afterMs: number): void {
  const { engine, steam } = scene
  engine.after(afterMs, () => {
    for (const offer of steam.offers.values()) {
      const isWhole = steam.steamTrades.get(offer.tradeId ?? '')?.state === 'complete'
      if (isWhole) runInLiveProcess(scene, (process) => credit(scene, process, offer))
    }
  })
}

async function credit({ faults }: Scene, { deps }: Process, offer: SteamOffer): Promise<void> {
  const { offerId, tradeId: steamTradeId } = offer
  if (steamTradeId === null) return
  await inTransaction(deps.db, async (tx) => {
    const row = await tx
      .selectFrom('trade')
      .select(['id', 'deposit_id', 'delivered_at'])
      .where('secret_code', '=', offer.message)
      .executeTakeFirstOrThrow()
    if (row.delivered_at !== null) return
    const fact = { kind: 'operator_credits', steamTradeId, offerId } as const
    const isNews = await recordByOperator(deps, tx, { depositId: row.deposit_id, tradeId: row.id, fact })
    must(isNews, 'I12', () => `trade ${row.id} could not be credited by hand`)
    const details = { tradeId: String(row.id), steamTradeId }
    await recordAct(tx, deps.clock.now(), { act: 'trade credit', details })
    faults.note('credit by an operator')
  })
}
