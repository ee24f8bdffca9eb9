/** How a bot judges failures of inventories, in simulated time. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Database, openDatabase } from '../db/client.ts'
import { systemClock } from '../kit/clock.ts'
import { OUTAGE_AFTER_MS } from '../outages/outage.ts'
import type { InventoryAnswer, Partner, PartnerAnswer, SteamSession } from '../steam/steam.ts'
import { fakeSession } from '../testing/fake-steam.ts'
import { captureLog } from '../testing/log.ts'
import { trackHealth } from './health.ts'
import { type HealthKeeper, keepHealth } from './health-keeper.ts'
import type { Lease } from './lease-store.ts'
import { observeSession } from './session-health.ts'

const NOVA = { steamId: '76561198000000009', token: 'abcd_-12' }
const ODD = { steamId: '76561198000000010', token: 'abcd_-34' }
/** How long a bot's reads fail before an outage begins, in simulated time. */
const OUTAGE_SECONDS = OUTAGE_AFTER_MS / 1_000
/** The time limit of an inventory read (steam/web/web-steam.ts). A trial read may take that long. */
const READ_SECONDS = 15
const NOTHING_FAILS = { offers: null, inventories: null }

let database: Database
let nowMs: number
let keeper: HealthKeeper
/** The accounts whose inventories Steam cannot read. */
let broken: Set<string>
/** The accounts for which Steam does not answer the check that precedes a read and a send. */
let unchecked: Set<string>
let reads: string[]
let session: SteamSession

beforeEach(() => {
  // Nothing here needs a connection.
  database = openDatabase('postgres://localhost/none')
  nowMs = 0
  broken = new Set()
  unchecked = new Set()
  reads = []
  const lease: Lease = {
    botId: 1n,
    steamId: '76561198000000001',
    name: 'Collector',
    owner: 'here',
    leaseEpoch: 1n,
    sealedToken: Buffer.alloc(0),
    acknowledged: true,
    tokenRefusedAt: null,
    memberSince: null,
    failing: NOTHING_FAILS,
  }
  const monotonicMs = () => nowMs
  const deps = { db: database.db, log: captureLog().log, clock: systemClock, monotonicMs }
  keeper = keepHealth(deps, lease, trackHealth(monotonicMs, NOTHING_FAILS))
  const onSteam = {
    ...fakeSession(lease.steamId),
    checkPartner: async ({ steamId }: Partner): Promise<PartnerAnswer> =>
      unchecked.has(steamId)
        ? { kind: 'unavailable', reason: 'steam_error', detail: 'GetTradeHoldDurations: HTTP 500' }
        : { kind: 'ok', holdDays: { partner: 0, own: 0 } },
    readInventory: async ({ steamId }: Partner): Promise<InventoryAnswer> => {
      reads.push(steamId)
      if (!broken.has(steamId)) return { kind: 'items', items: [] }
      return { kind: 'unavailable', reason: 'steam_error', detail: 'partnerinventory: HTTP 500' }
    },
  }
  session = observeSession(onSteam, {
    report: () => {},
    onAnswer: keeper.health.recordAnswer,
    onRead: keeper.rememberRead,
  })
})
afterEach(() => database.close())

/** Reads as for a shopper: after a check. */
async function read(partner: Partner): Promise<void> {
  const { kind } = await session.checkPartner(partner)
  if (kind === 'ok') await session.readInventory(partner, 'cs', 'en')
}

/**
 * Lets simulated seconds pass. Returns how many seconds the longest failure in this time had lasted, counted from its
 * beginning, which may be earlier. `every5s`: whose inventories are read every five seconds.
 */
async function failedFor(seconds: number, every5s: readonly Partner[] = []): Promise<number> {
  let longest = 0
  for (let second = 0; second < seconds; second += 1) {
    if (second % 5 === 0) for (const partner of every5s) await read(partner)
    keeper.retry(session)
    await nextTurn()
    longest = Math.max(longest, (keeper.health.failing().inventories ?? 0) / 1_000)
    nowMs += 1_000
  }
  return longest
}

it('one shopper whose inventory Steam cannot read causes no outage, even by reloading', async () => {
  await read(NOVA)
  broken.add(ODD.steamId)
  expect(await failedFor(600, [ODD])).toBeLessThan(OUTAGE_SECONDS - READ_SECONDS)
  // The first read, and at most one trial every ten seconds. More trials would leave shoppers too little of the bot's
  // budget, which grows by one read every four seconds.
  expect(reads.filter((steamId) => steamId === NOVA.steamId).length).toBeLessThanOrEqual(61)
})

it('a bot whose last read was of an unreadable inventory recovers without another shopper', async () => {
  await read(NOVA)
  broken.add(ODD.steamId)
  await read(ODD)
  expect(await failedFor(60)).toBeLessThan(OUTAGE_SECONDS)
  expect(keeper.health.failing().inventories).toBeNull()
})

it('an outage begins after 30 seconds if no shopper’s inventory can be read, and ends when one can', async () => {
  await read(NOVA)
  broken.add(NOVA.steamId).add(ODD.steamId)
  expect(await failedFor(31, [ODD])).toBe(OUTAGE_SECONDS)
  const readsBefore = reads.length
  expect(await failedFor(120, [])).toBe(OUTAGE_SECONDS + 120)
  // Two accounts fail, so the bot tries only every 30 seconds.
  expect(reads.length - readsBefore).toBeLessThanOrEqual(4)
  broken.clear()
  await failedFor(31, [])
  expect(keeper.health.failing().inventories).toBeNull()
})

it('a single shopper is enough for an outage if the bot has read no other inventory', async () => {
  broken.add(ODD.steamId)
  expect(await failedFor(31, [ODD])).toBe(OUTAGE_SECONDS)
})

it('an outage begins after 30 seconds if Steam checks no shopper, and ends when it does', async () => {
  await read(NOVA)
  unchecked.add(NOVA.steamId).add(ODD.steamId)
  expect(await failedFor(31, [ODD])).toBe(OUTAGE_SECONDS)
  expect(await failedFor(120, [])).toBe(OUTAGE_SECONDS + 120)
  unchecked.clear()
  await failedFor(31, [])
  expect(keeper.health.failing().inventories).toBeNull()
})

it('one shopper whom Steam cannot check causes no outage, even by reloading', async () => {
  await read(NOVA)
  unchecked.add(ODD.steamId)
  expect(await failedFor(600, [ODD])).toBeLessThan(OUTAGE_SECONDS - READ_SECONDS)
})

it('a check that works does not end a failure of inventories', async () => {
  broken.add(ODD.steamId)
  await read(ODD)
  nowMs += 1_000
  await session.checkPartner(NOVA)
  expect(keeper.health.failing().inventories).toBe(1_000)
})
