/**
 * A till whose database is lost under load, and that continues with an older state: a restored backup, or a promoted
 * asynchronous standby. The proof looks for duplicates and losses.
 */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { eventually, type Running } from '../../e2e/support/process.ts'
import { putBack } from '../../embedded-postgres/put-back.ts'
import { copyEmbedded } from '../../gateway/backups/service.ts'
import { runCommandLine } from '../../gateway/cli/run.ts'
import { verifyLedger } from '../../gateway/ledger/verify.ts'
import { ITEMS_OF_NO_TRADE } from '../../gateway/trades/orphans.ts'
import { STATE } from '../../steam-sandbox/world/world.ts'
import { crashServer, type Server, startServer, startStandby } from '../failover/server.ts'
import {
  countLeases,
  openProcessTill,
  type ProcessTill,
  untilAnswering,
  untilBotsOnline,
} from '../kill/till.ts'
import { startRedirectProxy } from './redirect-proxy.ts'
import { callStore, type Reader, startReader, startShopping, type Visit, visit } from './shopping.ts'

/**
 * How the database is replaced. `timeline`: by a restored backup on a new timeline of PostgreSQL, which shows the
 * gateway that it was restored. `behind`: by files copied back on the old timeline, which only the gateway's data
 * folder reveals. `promoted`: by a promoted standby, while the gateway keeps running.
 */
export type Replacement = 'timeline' | 'behind' | 'promoted'

export type RoundFacts = {
  restored: Replacement
  problems: string[]
  /**
   * Deliveries. `kept`: the first `DELIVERIES` before the restored moment. `lost`: all after it. `later`: those in the
   * next epoch.
   */
  kept: number
  lost: number
  later: number
  eventsLost: number
}

/** Long enough for a busy machine. */
const WAIT_MS = 240_000
/** How many deliveries each part of a round needs: before the restored moment, after it, and in the next epoch. */
const DELIVERIES = 3
const CURSOR_AHEAD = 'cursor_ahead'

export async function restoreRound(folder: string, restored: Replacement): Promise<RoundFacts> {
  const proxy = await startRedirectProxy()
  const first = await startServer(join(folder, 'first'))
  const servers: { stop(): Promise<void> }[] = [first]
  const gateways: Running[] = []
  const redirectTo = ({ url }: { url: string }) => proxy.redirectTo(Number(new URL(url).port))
  redirectTo(first)
  const proxyUrl = new URL(first.url)
  proxyUrl.port = String(proxy.port)
  const till = await openProcessTill(proxyUrl.href, `restore-${randomUUID()}`)
  const start = async (): Promise<Running> => {
    const gateway = till.start()
    gateways.push(gateway)
    await untilAnswering(till, gateway)
    return gateway
  }
  try {
    const gateway = await start()
    const secondFolder = join(folder, 'second')
    const successor =
      restored === 'promoted'
        ? await successorByStandby(first, secondFolder)
        : successorByBackup(first, secondFolder, restored)
    servers.push(successor)
    const before = await runUntilLoss(till, successor)
    if (restored !== 'promoted') await gateway.kill()
    crashServer(first)
    await first.died
    redirectTo(await successor.takeOver())
    return await checkRound(till, {
      ...before,
      restored,
      gateway: restored === 'promoted' ? gateway : await start(),
    })
  } finally {
    for (const each of gateways) await each.interrupt()
    // Closing may fail, because the server with the till's database may be the lost one.
    await till.close().catch(() => {})
    for (const server of servers) await server.stop()
    await proxy.close()
  }
}

type Successor = {
  /** Freezes the state that the successor will have. Everything written after this resolves will be lost. */
  fallBehind(): Promise<void>
  takeOver(): Promise<{ url: string }>
  stop(): Promise<void>
}

async function successorByStandby(first: Server, folder: string): Promise<Successor> {
  const standby = await startStandby(first, folder)
  return {
    fallBehind: () => standby.cutOff(),
    async takeOver() {
      await standby.promote()
      return standby
    },
    stop: () => standby.stop(),
  }
}

function successorByBackup(first: Server, folder: string, restored: 'timeline' | 'behind'): Successor {
  let path = ''
  let server: Server | undefined
  return {
    async fallBehind() {
      const source = { ownerUrl: first.url, dataDir: first.dataDir }
      ;({ path } = await copyEmbedded(source, join(folder, 'backups'), new Date()))
    },
    async takeOver() {
      const dataDir = join(folder, 'data')
      const cluster = await putBack(path, dataDir)
      if (restored === 'behind') rmSync(join(cluster, 'recovery.signal'))
      server = await startServer(dataDir)
      return server
    },
    stop: async () => server?.stop(),
  }
}

type BeforeLoss = {
  reader: Reader
  /** Visits that were paid before the restored moment, and after it. Those paid around it are in neither list. */
  kept: Visit[]
  lost: Visit[]
  /**
   * Open offers: one from before the restored moment, and two orphans from after it, which the restored till does not
   * know.
   */
  offerBefore: Visit
  orphan: Visit
  acceptedOrphan: Visit
}

/** Runs load with the restored moment in the middle, and leaves three offers open when the database is lost. */
async function runUntilLoss(till: ProcessTill, successor: Successor): Promise<BeforeLoss> {
  await untilBotsOnline(till)
  const reader = startReader(till)
  const offerBefore = await openOffer(till, 'nova_hound')
  const shopping = startShopping(till, 'nova_hound', 2 * DELIVERIES)
  await eventually(
    'deliveries before the restored moment',
    () => shopping.paid.length >= DELIVERIES || undefined,
    WAIT_MS,
  )
  await untilDelivered(till, DELIVERIES)
  await successor.fallBehind()
  const paidBefore = shopping.paid.length
  shopping.allow(DELIVERIES)
  await eventually(
    'deliveries after the restored moment',
    () => shopping.paid.length >= paidBefore + DELIVERIES || undefined,
    WAIT_MS,
  )
  await shopping.stop()
  const orphan = await openOffer(till, 'nova_hound')
  await untilDelivered(till, shopping.paid.length)
  const acceptedOrphan = await openOffer(till, 'quiet_lynx')
  await eventually('the store has read every delivery', async () => {
    await reader.catchUp()
    const succeeded = [...reader.events.values()].filter(({ type }) => type === 'deposit.succeeded')
    return succeeded.length >= shopping.paid.length || undefined
  })
  const kept = shopping.paid.slice(0, DELIVERIES)
  return { reader, kept, lost: shopping.paid.slice(paidBefore), offerBefore, orphan, acceptedOrphan }
}

async function openOffer(till: ProcessTill, person: string): Promise<Visit> {
  return eventually(`an offer to ${person}`, () => visit(till, person), WAIT_MS)
}

const countSchema = z.object({ count: z.int() })

async function countOf({ pool }: ProcessTill, sql: string, values: unknown[] = []): Promise<number> {
  return countSchema.parse((await pool.query(`select count(*)::int as count ${sql}`, values)).rows[0]).count
}

const untilDelivered = (till: ProcessTill, least: number) =>
  eventually(
    `${least} deliveries`,
    async () => (await countOf(till, 'from trade where delivered_at is not null')) >= least || undefined,
    WAIT_MS,
  )

async function checkRound(
  till: ProcessTill,
  before: BeforeLoss & { restored: Replacement; gateway: Running },
): Promise<RoundFacts> {
  const { reader, restored, offerBefore, acceptedOrphan } = before
  const problems: string[] = []
  till.steam.as('nova_hound').accept(offerBefore.offer)
  till.steam.as('quiet_lynx').accept(acceptedOrphan.offer)
  problems.push(...(await checkStopped(till, { reader, restored })))
  const eventCount = await countOf(till, 'from event where sequence is not null')
  const eventsLost = reader.cursor() - eventCount
  const leases = await countLeases(till)
  const code = await runOperatorCommand(till, ['restore', 'finish', '--reason', 'the proof'])
  if (code !== 0) problems.push(`restore finish ended with ${code}`)
  // A bot may keep its lease, so no new lease is needed.
  await untilBotsOnline(till, leases - (await botCount(till)))
  const later = startShopping(till, 'nova_hound', DELIVERIES)
  await eventually(
    'deliveries in the next epoch',
    () => later.paid.length >= DELIVERIES || undefined,
    WAIT_MS,
  )
  await later.stop()
  await untilSettled(till, before)
  problems.push(...(await checkNextEpoch(till, before, later.paid)))
  return {
    restored,
    problems,
    kept: before.kept.length,
    lost: before.lost.length,
    later: later.paid.length,
    eventsLost,
  }
}

const botCount = async (till: ProcessTill): Promise<bigint> => BigInt(await countOf(till, 'from bot'))

/**
 * Checks that the till, before `restore finish`, is not ready, opens no deposit, leases no bot, refuses the store's
 * cursor, and sees that its database was restored.
 */
async function checkStopped(
  till: ProcessTill,
  { reader, restored }: Pick<BeforeLoss, 'reader'> & { restored: Replacement },
) {
  const problems: string[] = []
  // A gateway that kept running notices the restore only when its database is back.
  await eventually('/readyz reports that the restore is unfinished', () => isStopped(till), WAIT_MS)
  const deposit = {
    externalId: `stopped-${randomUUID()}`,
    currency: 'USD',
    backToStoreUrl: 'http://localhost/',
  }
  const opened = await callStore(till, { method: 'POST', path: '/v1/deposits', body: deposit })
  if (opened.status !== 503)
    problems.push(`a deposit was answered with ${opened.status} before restore finish`)
  const refusal = await reader.catchUp()
  if (refusal !== CURSOR_AHEAD) problems.push(`a cursor ahead of the log got ${refusal ?? 'no refusal'}`)
  // A lease from before the restore can still last for its full time.
  const leasedSql = 'from bot where online and lease_until > now()'
  await eventually(
    'no bot is leased',
    async () => (await countOf(till, leasedSql)) === 0 || undefined,
    WAIT_MS,
  )
  const { rows } = await till.pool.query<{ isCurrent: boolean }>('select life_is_current() as "isCurrent"')
  if (rows[0]?.isCurrent !== false)
    problems.push(`the database does not show that it was restored (${restored})`)
  return problems
}

async function isStopped({ url }: ProcessTill): Promise<true | undefined> {
  const ready = await fetch(`${url}/readyz`)
  const { status } = z.object({ status: z.string() }).parse(await ready.json())
  return (ready.status === 503 && status === 'restore unfinished') || undefined
}

/** Resolves to the command's exit code. */
async function runOperatorCommand(till: ProcessTill, args: string[]): Promise<number> {
  const say = (line: string): void => console.log(`  ${line}`)
  return runCommandLine(args, {
    env: till.env,
    terminal: {
      print: say,
      warn: say,
      lines: noLines,
      openQuestions: () => noQuestions(),
      finish: async () => undefined,
    },
  })
}

async function* noLines(): AsyncGenerator<string> {}

function noQuestions(): never {
  throw new Error('the command must not ask questions')
}

/** Waits until the till has done all it can: offers cancelled or credited, events published and read. */
async function untilSettled(till: ProcessTill, { reader, orphan, offerBefore }: BeforeLoss): Promise<void> {
  const stateOf = (id: string) => till.steam.world().offers.find((offer) => offer.id === id)?.state
  await eventually(
    'the orphan is cancelled',
    () => stateOf(orphan.offer) === STATE.canceled || undefined,
    WAIT_MS,
  )
  await eventually(
    'the earlier offer is credited',
    async () => (await creditsOf(till, offerBefore)) === 1 || undefined,
    WAIT_MS,
  )
  await eventually(
    'everything is published',
    async () =>
      (await countOf(
        till,
        `from (select 1 from event where sequence is null union all
        select 1 from trade where state in ('intended', 'sending', 'unknown', 'active')) moving`,
      )) === 0 || undefined,
    WAIT_MS,
  )
  await reader.catchUp()
}

const creditsOf = (till: ProcessTill, { externalId }: Visit): Promise<number> =>
  countOf(
    till,
    `from trade join deposit on deposit.id = deposit_id where external_id = $1 and delivered_at is not null`,
    [externalId],
  )

async function checkNextEpoch(
  till: ProcessTill,
  { reader, kept, lost, acceptedOrphan, gateway }: BeforeLoss & { gateway: Running },
  later: readonly Visit[],
): Promise<string[]> {
  const problems = (await verifyLedger(till.pool)).map(({ problem, detail }) => `${problem}: ${detail}`)
  for (const sequence of reader.reusedSequences) problems.push(`event number ${sequence} was used twice`)
  const newEpochs = [...reader.events.values()].filter(({ type }) => type === 'epoch.started')
  if (newEpochs.length !== 1) problems.push(`the store heard of ${newEpochs.length} new epochs`)
  const owners = new Map<string, string>()
  for (const event of reader.events.values()) {
    if (event.type === 'epoch.started') continue
    const { id, externalId } = event.data
    if ((owners.get(id) ?? externalId) !== externalId) problems.push(`deposit id ${id} was used twice`)
    owners.set(id, externalId)
  }
  for (const visit of [...kept, ...later])
    if ((await creditsOf(till, visit)) !== 1)
      problems.push(`${visit.externalId} has ${await creditsOf(till, visit)} credits`)
  const output = gateway.output()
  for (const { offer, externalId } of [...lost, acceptedOrphan]) {
    const isCredited = (await creditsOf(till, { offer, externalId, hash: '' })) === 1
    const line = output
      .split('\n')
      .find((each) => each.includes(ITEMS_OF_NO_TRADE) && each.includes(`"${offer}"`))
    if (!isCredited && line === undefined)
      problems.push(`no log line says that items arrived for offer ${offer}`)
  }
  return problems
}
