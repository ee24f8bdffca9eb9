/** Two whole gateways on one database: who speaks for a bot, and who goes on when one of them is killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startSteam } from '../../steam-sandbox/start.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { createSandboxAgent } from '../steam/agent.ts'
import { createWebSteam } from '../steam/web.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { addBot } from './service.ts'

const MASTER_KEY = Buffer.alloc(32, 3)
const TAKEN_OVER_MS = 30_000
const BOTS = 2

let database: TestDatabase
let sandbox: Awaited<ReturnType<typeof startSteam>>
let running: ChildProcess[]

beforeEach(async () => {
  database = await testDatabase()
  sandbox = await startSteam({ port: 0 })
  running = []
})
afterEach(async () => {
  for (const child of running.filter(
    ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
  )) {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  await sandbox.close()
  await database.close()
})

async function enrolBots(): Promise<void> {
  const url = sandbox.url.replace('localhost', '127.0.0.1')
  const steam = createWebSteam({ redirect: createSandboxAgent('sandbox', url) })
  const box = createSecretBox(MASTER_KEY)
  for (const account of sandbox
    .world()
    .accounts.filter(({ kind }) => kind === 'bot')
    .slice(0, BOTS)) {
    const refreshToken = sandbox.as(account.steamId).refreshToken()
    const answer = await addBot({ db: database.db, steam, box, clock: systemClock, refreshToken })
    expect(answer).toMatchObject({ kind: 'added' })
  }
}

async function startGateway() {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../main.ts')], {
    env: {
      DATABASE_URL: database.url,
      TRADETILL_PORT: String(await freePort()),
      TRADETILL_MASTER_KEY: MASTER_KEY.toString('base64'),
      TRADETILL_STEAM_SANDBOX_URL: sandbox.url.replace('localhost', '127.0.0.1'),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  running.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const onlineBots = () => output.split('a bot is online').length - 1
  await vi.waitFor(() => expect(output).toContain('gateway ready at'), 40_000)
  return { child, onlineBots, output: () => output }
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

type BotRow = { owner: string | null; epoch: string; online: boolean }

async function botRows(): Promise<BotRow[]> {
  const { rows } = await database.pool.query<BotRow>(
    'select lease_owner as owner, lease_epoch::text as epoch, online and lease_until > now() as online from bot order by id',
  )
  return rows
}

describe('two gateways', () => {
  it('share the bots without ever holding one both; those of a killed one move within 30 s', {
    timeout: 150_000,
  }, async () => {
    await enrolBots()
    const gateways = await Promise.all([startGateway(), startGateway()])
    await vi.waitFor(async () => expect((await botRows()).every(({ online }) => online)).toBe(true), 20_000)
    // The log comes a moment after the row.
    await vi.waitFor(() => expect(gateways[0].onlineBots() + gateways[1].onlineBots()).toBe(BOTS), 10_000)
    const before = await botRows()

    const [killed, other] = gateways[0].onlineBots() > 0 ? gateways : [gateways[1], gateways[0]]
    const moved = killed.onlineBots()
    const kept = other.onlineBots()
    killed.child.kill('SIGKILL')
    const killedAt = performance.now()
    await vi.waitFor(() => expect(other.onlineBots()).toBe(kept + moved), 60_000)
    expect(performance.now() - killedAt).toBeLessThan(TAKEN_OVER_MS)

    const after = await botRows()
    expect(new Set(after.map(({ owner }) => owner)).size).toBe(1)
    const newEpochs = after.filter(({ epoch }, index) => BigInt(epoch) > BigInt(before[index]?.epoch ?? 0))
    expect(newEpochs).toHaveLength(moved)
    expect(other.output()).not.toContain('lost the lease')
  })
})
