import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startSteam } from '../../steam-sandbox/start.ts'
import { createQueue } from '../db/boss-queue.ts'
import type { Queue } from '../db/queue.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { createSandboxAgent } from '../steam/web/agent.ts'
import { createWebSteam } from '../steam/web/web-steam.ts'
import { addBot, IDLE_HANDLERS } from '../testing/bots.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { captureLog } from '../testing/log.ts'
import { startBots } from './runner.ts'

const MASTER_KEY = Buffer.alloc(32, 3)
const box = createSecretBox(MASTER_KEY)
const OWNER_HERE = randomUUID()

let database: TestDatabase
let queue: Queue
let sandbox: Awaited<ReturnType<typeof startSteam>>
let child: ChildProcess | undefined
let bots: { stop(): Promise<void> } | undefined
const captured = captureLog()

beforeEach(async () => {
  database = await testDatabase()
  queue = await createQueue({ url: database.url, log: captured.log })
  sandbox = await startSteam({ port: 0 })
})
afterEach(async () => {
  await kill()
  await bots?.stop()
  await queue.stop()
  await sandbox.close()
  await database.close()
})

async function kill(): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

const steamHere = () => createWebSteam({ redirect: createSandboxAgent('sandbox', sandbox.url) })

/** Enrols the sandbox's bot at this index. */
async function enrol(index: number): Promise<void> {
  const account = sandbox.world().accounts.filter(({ kind }) => kind === 'bot')[index]
  const refreshToken = sandbox.as(account?.steamId ?? '').refreshToken()
  const answer = await addBot({ db: database.db, steam: steamHere(), box, clock: systemClock, refreshToken })
  expect(answer).toMatchObject({ kind: 'added' })
}

/** Starts a gateway in a separate process; resolves to a function that returns its output so far. */
async function startGateway(): Promise<() => string> {
  child = spawn(process.execPath, [join(import.meta.dirname, '../main.ts')], {
    env: {
      DATABASE_URL: database.url,
      TRADETILL_PORT: '0',
      TRADETILL_MASTER_KEY: MASTER_KEY.toString('base64'),
      TRADETILL_STEAM_SANDBOX_URL: sandbox.url,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  return () => output
}

/** The bots of a second gateway, in this process. */
function startBotsHere() {
  return startBots({
    db: database.db,
    queue,
    steam: steamHere(),
    box,
    log: captured.log,
    clock: systemClock,
    owner: OWNER_HERE,
    handlers: IDLE_HANDLERS,
  })
}

type BotRow = { owner: string | null; leaseEpoch: string; online: boolean }

async function botRows(): Promise<BotRow[]> {
  const { rows } = await database.pool.query<BotRow>(
    'select lease_owner as owner, lease_epoch::text as "leaseEpoch", online and lease_until > now() as online from bot order by id',
  )
  return rows
}
const expectAllOnline = (count: number) =>
  expect.poll(botRows).toEqual(Array(count).fill(expect.objectContaining({ online: true })))
const onlineIn = (output: string) => output.split('bot came online').length - 1

describe('two gateways', () => {
  it('bring each bot online only once, and the bots of a killed gateway move to the other', async () => {
    await enrol(0)
    const output = await startGateway()
    await expectAllOnline(1)
    bots = startBotsHere()
    await enrol(1)
    await expectAllOnline(2)
    const before = await botRows()
    const countHere = before.filter(({ owner }) => owner === OWNER_HERE).length
    // The log line follows the row a moment later.
    await expect.poll(() => onlineIn(output())).toBe(2 - countHere)
    await expect.poll(() => onlineIn(captured.lines.join(''))).toBe(countHere)

    await kill()
    // The killed gateway did not release its bots, so they are free only when their leases end.
    expect((await botRows()).map(({ owner }) => owner)).toEqual(before.map(({ owner }) => owner))
    await database.pool.query('update bot set lease_until = now() where lease_owner <> $1', [OWNER_HERE])
    await expect.poll(() => onlineIn(captured.lines.join(''))).toBe(2)

    const after = await botRows()
    expect(after.map(({ owner }) => owner)).toEqual([OWNER_HERE, OWNER_HERE])
    const isNewer = ({ leaseEpoch }: BotRow, index: number) =>
      BigInt(leaseEpoch) > BigInt(before[index]?.leaseEpoch ?? 0)
    expect(after.map(isNewer)).toEqual(before.map(({ owner }) => owner !== OWNER_HERE))
    expect(captured.lines.join('')).not.toContain('lease of a bot was lost')
  })
})
