import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { chosenSeeds, LEVELS, type RunSeed, realSeeds, runUntilMet, unmet } from './levels.ts'
import type { Outcome } from './outcome.ts'
import { READ_DEFECTS } from './planted-read-defects.ts'
import { checkReads, READS, type Reads } from './real/reads.ts'
import { openServers, type Servers } from './real/servers.ts'
import { openSessions, type Sessions } from './real/sessions.ts'

// Takes minutes on a busy machine, and much longer if the chosen seeds no longer meet every fault.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 1_800_000 })

let servers: Servers
let sessions: Sessions
let run: RunSeed
let outcomes: Outcome[]

beforeAll(async () => {
  servers = await openServers(1)
  run = await realSeeds(servers.urls)
  sessions = openSessions(servers.urls[0] ?? '')
  const first = chosenSeeds()
  outcomes = await runUntilMet('real', run, first)
  if (outcomes.length > first.length) {
    console.log(`The chosen seeds no longer meet every fault, so ${outcomes.length} seeds had to run. To choose others:
  npm run prove -- simulate --level real --seeds 200 --choose`)
  }
})
afterAll(async () => {
  await sessions?.pool.end()
  await servers?.close()
})

describe('the services on PostgreSQL, one statement at a time', () => {
  it(`keep every promise over seeds that together meet every fault, with ${LEVELS.real.deposits} deposits each`, () => {
    expect(outcomes.flatMap(({ seed, violation }) => (violation ? [{ seed, ...violation }] : []))).toEqual([])
    expect(unmet('real', outcomes)).toEqual([])
  })
})

describe('the data that stores and operators read', () => {
  // A wrong read shows only if the rows contain something to get wrong.
  beforeAll(async () => {
    for (const { seed } of outcomes) {
      const { rows } = await sessions.pool.query<{ causes: number }>(
        `select count(distinct cause)::int as causes from ledger_entry where cause in ('released', 'reversed')`,
      )
      if (rows[0]?.causes === 2) return
      await run(seed)
    }
  })

  // Reads change nothing, so all tests use the rows of the last seed.
  const readAs = (reads: Reads) => checkReads(sessions.pool, reads)

  it('matches the rows', async () => {
    await expect(readAs(READS)).resolves.toBeUndefined()
  })

  it.each(Object.entries(READ_DEFECTS))('is found to be wrong if %s', async (_name, reads) => {
    await expect(readAs(reads)).rejects.toThrow('I16')
  })
})

// Last, because its seed may leave too few rows for the reads.
describe('a repeated seed', () => {
  it('gives the same trace', async () => {
    const [shortest] = outcomes.toSorted((one, other) => one.steps - other.steps)
    const repeated = await run(shortest?.seed ?? 0)
    expect(repeated.hash).toBe(shortest?.hash)
  })
})
