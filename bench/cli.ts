/**
 * `npm run bench -- cli`: processor seconds of the operator's commands, each run in its own process, compared with
 * `node -e 0` in the same run. Each is measured without Node's compile cache, as after an update, and with it. The
 * limits apply to the figures with the cache.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { claimDatabase } from '../gateway/db/identity.ts'
import { migrate } from '../gateway/db/migrate.ts'
import { fingerprintOf } from '../gateway/kit/secret-box.ts'
import { meanOf, readSpeed, stretchLimit } from '../proofs/machine.ts'
import { withDatabase } from './database.ts'
import { median, type Outcome } from './outcome.ts'

/** The most processor seconds on a quiet machine, for `--help` and for any other command. */
const HELP_LIMIT_S = 0.3
const COMMAND_LIMIT_S = 0.6
const RUNS = 5
const MASTER_KEY = 'a'.repeat(64)

const CLI = join(import.meta.dirname, '../gateway/cli')
/** Node's arguments, as in the scripts of package.json. */
const NODE = ['--import', join(import.meta.dirname, '../scripts/compiled.mjs')]
const MAIN = join(CLI, 'main.ts')

const COMMANDS: { name: string; limitS: number; args: string[] }[] = [
  { name: 'help', limitS: HELP_LIMIT_S, args: [...NODE, MAIN, '--help'] },
  { name: 'bot-list', limitS: COMMAND_LIMIT_S, args: [...NODE, MAIN, 'bot', 'list'] },
  { name: 'store-show', limitS: COMMAND_LIMIT_S, args: [...NODE, MAIN, 'store', 'show', '1'] },
  { name: 'deposit-show', limitS: COMMAND_LIMIT_S, args: [...NODE, MAIN, 'deposit', 'show', '1001'] },
  { name: 'price-list', limitS: COMMAND_LIMIT_S, args: [...NODE, MAIN, 'price', 'list'] },
  { name: 'ledger-verify', limitS: COMMAND_LIMIT_S, args: [...NODE, MAIN, 'ledger', 'verify'] },
  { name: 'acts', limitS: COMMAND_LIMIT_S, args: [...NODE, MAIN, 'acts'] },
]

type Environment = Record<string, string | undefined>

export async function benchCli(): Promise<Outcome> {
  return withDatabase({ fsync: false }, async (url) => {
    await migrate({ url })
    await fill(url)
    const env = { ...process.env, DATABASE_URL: url, TRADETILL_MASTER_KEY: MASTER_KEY }
    const before = await readSpeed()
    const bareS = await medianCpuSeconds(['-e', '0'], env)
    const measured: Measured[] = []
    for (const { name, limitS, args } of COMMANDS) {
      const coldS = await medianCpuSeconds(args, { ...env, NODE_DISABLE_COMPILE_CACHE: '1' })
      // The first run fills the cache.
      await cpuSeconds(args, env)
      measured.push({ name, limitS, coldS, warmS: await medianCpuSeconds(args, env) })
    }
    const machine = meanOf([before, await readSpeed()])
    console.log(`a core has ${Math.round(machine.coreSpeed * 100)}% of a quiet one's speed`)
    const outcomes = measured.map((each) => judge(each, bareS, machine.coreSpeed))
    const passed = outcomes.every((outcome) => outcome.passed)
    return {
      name: 'cli',
      ours: `${outcomes.filter((outcome) => outcome.passed).length}/${outcomes.length}`,
      passed,
      further: outcomes,
    }
  })
}

async function fill(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // Claims the database, as the first start of a gateway does.
  await claimDatabase(client, {
    mode: 'sandbox',
    keyFingerprint: fingerprintOf(Buffer.from(MASTER_KEY, 'hex')),
  })
  await client.query(
    `insert into store (name, origins, risk_limit_usd_cents) values ('Ember', '{http://x}', 0)`,
  )
  await client.query(
    `insert into deposit (hash, store_id, external_id, request_sha256, currency, back_to_store_url, expires_at)
     select repeat('ab', 16), id, 'a', '', 'USD', 'http://x', now() + interval '1 hour' from store`,
  )
  await client.end()
}

async function medianCpuSeconds(args: string[], env: Environment): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < RUNS; run += 1) times.push(await cpuSeconds(args, env))
  return median(times)
}

/** User and system seconds of a Node process from start to end, as counted by the shell that ran it. */
async function cpuSeconds(args: string[], env: Environment): Promise<number> {
  const script = '"$@" > /dev/null || exit; times'
  const { stdout } = await promisify(execFile)('sh', ['-c', script, 'sh', process.execPath, ...args], { env })
  // The first line has the times of the shell itself.
  const ofChildren = stdout.trim().split('\n')[1] ?? ''
  const times = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)]
  if (times.length !== 2) throw new Error(`the shell's times are unreadable: ${stdout}`)
  return times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0)
}

type Measured = { name: string; limitS: number; coldS: number; warmS: number }

function judge({ name, limitS, coldS, warmS }: Measured, bareS: number, coreSpeed: number): Outcome {
  console.log(`${name}: ${warmS.toFixed(2)}s, without the compile cache ${coldS.toFixed(2)}s`)
  const allowedS = stretchLimit(limitS, coreSpeed)
  return {
    name: `cli-${name}`,
    ours: `${warmS.toFixed(2)}s`,
    floor: `${bareS.toFixed(2)}s`,
    ratio: warmS / bareS,
    limit: `<=${allowedS.toFixed(2)}s`,
    passed: warmS <= allowedS,
  }
}
