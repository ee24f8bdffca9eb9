/** Runs the cases of a family on the target that it needs. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { createQueue } from '../../gateway/db/boss-queue.ts'
import { openDatabase } from '../../gateway/db/client.ts'
import { createSignals } from '../../gateway/db/pg-signals.ts'
import { captureLog } from '../../gateway/testing/log.ts'
import { type Till, tillOn } from '../../gateway/testing/till.ts'
import type { Case } from './attack.ts'
import { FAMILIES } from './families.ts'
import { openTarget } from './target.ts'

/** How many connections the till's pool has. */
export const CONNECTIONS = 10

export type Outcome = {
  what: string
  stoppedBy: string
  /** Undefined if the attack failed, otherwise its result. */
  result: string | undefined
}

type Run = {
  number: number
  /** URL of the migrated database that each till copies. A family of the kind `parts` needs none. */
  templateUrl?: string | undefined
  /** Runs only the cases of this defence. */
  onlyDefence?: string
}

/** Resolves to the outcome of each case. Throws if honest calls fail, because then the cases prove nothing. */
export async function runFamily({ number, templateUrl, onlyDefence }: Run): Promise<Outcome[]> {
  const found = FAMILIES.find((family) => family.number === number)
  if (found === undefined) throw new Error(`there is no family ${number}`)
  if (found.kind === 'parts') {
    requireHonest(found.name, await found.honest())
    return outcomesOf(found.cases(), onlyDefence)
  }
  if (templateUrl === undefined) throw new Error(`${found.name} needs a database`)
  return withTill(templateUrl, async (till) => {
    const target = await openTarget(till)
    try {
      requireHonest(found.name, await found.honest(target))
      return await outcomesOf(await found.cases(target), onlyDefence)
    } finally {
      await target.close()
    }
  })
}

function requireHonest(name: string, problem: string | undefined): void {
  if (problem !== undefined) throw new Error(`honest calls fail in ${name}: ${problem}`)
}

/** Runs the cases one after the other, because some defences count calls. */
export async function outcomesOf(cases: readonly Case[], onlyDefence?: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const { what, stoppedBy, attack } of cases) {
    if (onlyDefence !== undefined && stoppedBy !== onlyDefence) continue
    outcomes.push({ what, stoppedBy, result: await attack() })
  }
  return outcomes
}

async function withTill<T>(templateUrl: string, work: (till: Till) => Promise<T>): Promise<T> {
  const name = `attacks_${randomBytes(6).toString('hex')}`
  const template = new URL(templateUrl).pathname.slice(1)
  await onServer(templateUrl, `create database ${name} template ${template}`)
  const url = new URL(templateUrl)
  url.pathname = `/${name}`
  const captured = captureLog()
  // Only a sandbox's connections follow the till's clock, which some cases advance.
  const database = openDatabase(url.href, CONNECTIONS, 'sandbox')
  const queue = await createQueue({ url: url.href, log: captured.log })
  const signals = await createSignals({ url: url.href, log: captured.log })
  try {
    // The parts are closed below.
    const close = async () => {}
    return await work(await tillOn({ ...captured, url: url.href, db: database.db, queue, signals, close }))
  } finally {
    await queue.stop()
    await signals.close()
    await database.close()
    await onServer(templateUrl, `drop database ${name} with (force)`)
  }
}

/** Uses the server's own database, because a template must have no connections. */
async function onServer(url: string, statement: string): Promise<void> {
  const server = new URL(url)
  server.pathname = '/postgres'
  const client = new pg.Client({ connectionString: server.href })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
