/** One seed: items come, are listed, bought, given and paid, under every fault; then all comes to rest. */
import type { Key } from '../../vault/files/key.ts'
import { seededRandom } from '../random.ts'
import { Violation } from '../simulation/violation.ts'
import { type Fault, Killed, Luck } from './luck.ts'
import { ModelMarket } from './market.ts'
import { checkNow, checkRest } from './promises.ts'
import { DAY_MS, GAMES, MINUTE_MS, ModelSteam } from './steam.ts'
import { ModelTill } from './till.ts'
import { aKey, type Outside, startVault, type VaultProcess } from './vault.ts'

export type SalesOutcome = {
  seed: number
  hash: string
  faults: ReadonlyMap<Fault, number>
  offers: number
  violation: { invariant: string; message: string; stack: string } | undefined
  trace: readonly string[]
}

const START_MS = 1_800_000_000_000
const ITEMS = 14
const STORMY_TURNS = 160
/** Enough for an offer that Steam holds, and for the money of it. */
const CALM_DAYS = 30
const PRICES: Readonly<Record<string, bigint>> = { Cap: 900n, Blade: 12_000n, Boots: 4_300n }

type World = Outside & { vault: VaultProcess; pass(ms: number): void; switchOff(): void }

/** `key`: of the vault; nothing of it is in the trace. */
export async function runSales(
  { seed, keepTrace = false }: { seed: number; keepTrace?: boolean },
  key: Key = aKey(),
): Promise<SalesOutcome> {
  const luck = new Luck(seededRandom(seed), keepTrace)
  const world = worldOf(luck, key)
  const violation = await live(world).then(
    () => undefined,
    (error: unknown) => said(error),
  )
  if (violation !== undefined) luck.trace.add(violation.message)
  const { trace, met } = luck
  const offers = world.steam.offers.length
  return { seed, hash: trace.hash(), faults: met, offers, violation, trace: trace.lines() }
}

function said(error: unknown): NonNullable<SalesOutcome['violation']> {
  const violation =
    error instanceof Violation ? error : new Violation('defect', `threw ${String(error)}`, error)
  return { invariant: violation.invariant, message: violation.message, stack: violation.stack ?? '' }
}

function worldOf(luck: Luck, key: Key): World {
  let nowMs = START_MS
  let isOff = false
  const steam = new ModelSteam(luck, () => nowMs)
  const priceOf = (name: string): bigint => PRICES[name] ?? 1_000n
  const around = { luck, steam, nowMs: () => nowMs, priceOf }
  const markets = [
    new ModelMarket('first', 'confirm_then_tell', around),
    new ModelMarket('second', 'tell_then_confirm', around),
  ]
  steam.isWanted = (gift) => markets.some((market) => market.waitsFor(gift.message))
  const till = new ModelTill()
  const now = (): Date => new Date(nowMs)
  const outside: Outside = { luck, steam, markets, till, entries: [], key, now, priceOf, isOff: () => isOff }
  for (let count = 0; count < ITEMS; count += 1) {
    const name = luck.random.pick(['Cap', 'Blade', 'Boots'])
    const costCents = (priceOf(name) * BigInt(luck.random.between(60, 120))) / 100n
    const protectedMs = luck.random.chance(0.5) ? 0 : luck.random.int(2 * DAY_MS)
    steam.bring({ appId: luck.random.pick(GAMES), name, costCents, protectedMs })
  }
  return {
    ...outside,
    vault: startVault(outside),
    pass: (ms) => {
      nowMs += ms
    },
    switchOff: () => {
      isOff = true
    },
  }
}

async function live(world: World): Promise<void> {
  const { luck, markets, pass } = world
  for (let count = 0; count < STORMY_TURNS; count += 1) {
    await turn(world)
    for (const market of markets) if (luck.random.chance(0.08)) market.buy()
    const isQuiet = luck.random.chance(0.1)
    pass(isQuiet ? luck.random.int(DAY_MS / 2) : 15_000 + luck.random.int(5_000))
  }
  luck.isCalm = true
  for (let count = 0; count < 60; count += 1) await calmTurn(world, MINUTE_MS / 4)
  world.switchOff()
  for (let count = 0; count < CALM_DAYS * 2; count += 1) await calmTurn(world, DAY_MS / 2)
  for (let count = 0; count < 60; count += 1) await calmTurn(world, MINUTE_MS / 4)
  checkRest(world, world.vault)
}

async function calmTurn(world: World, ms: number): Promise<void> {
  await turn(world)
  world.pass(ms)
}

async function turn(world: World): Promise<void> {
  const { luck, steam, markets } = world
  try {
    await world.vault.round()
  } catch (error) {
    if (!(error instanceof Killed)) throw error
  }
  if (luck.isDead) {
    luck.isDead = false
    world.vault = startVault(world)
    luck.trace.add('the vault was started again')
  }
  steam.act()
  for (const market of markets) market.act()
  checkNow(world, world.vault)
}
