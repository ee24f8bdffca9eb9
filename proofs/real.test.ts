import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LEVELS, type RunSeed, realSeeds, runSeeds, unmet } from './levels.ts'
import { openServers, type Servers } from './real/servers.ts'

const SEEDS = Array.from({ length: 50 }, (_, index) => index + 1)
const LANES = 2

// Minutes of work on a busy machine.
vi.setConfig({ testTimeout: 600_000 })

let servers: Servers
let run: RunSeed

beforeAll(async () => {
  servers = await openServers(LANES)
  run = await realSeeds(servers.urls)
})
afterAll(() => servers.close())

describe('the services on PostgreSQL, one statement at a time', () => {
  it(`hold for ${SEEDS.length} seeds of ${LEVELS.real.deposits} deposits, and meet every fault`, async () => {
    const outcomes = await runSeeds(run, SEEDS, LANES)
    expect(outcomes.flatMap(({ seed, violation }) => (violation ? [{ seed, ...violation }] : []))).toEqual([])
    expect(unmet('real', outcomes)).toEqual([])
  })

  it('do the same for the same seed', async () => {
    const [one, again] = await runSeeds(run, [3, 3], 1)
    expect(again?.hash).toBe(one?.hash)
  })
})
