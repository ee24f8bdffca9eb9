/**
 * Runs one seed of the simulation of sales in memory. Items leave the bots, and are listed, sold, given and paid for.
 * Faults happen at first, and then none, for long enough that everything ends.
 */
import type { Key } from '../../vault/files/key.ts'
import type { Wishes } from '../../vault/giving/till-line.ts'
import type { Till } from '../../vault/markets/till.ts'
import type { Rounds } from '../../vault/rounds.ts'
import { seededRandom } from '../random.ts'
import { Violation } from '../simulation/violation.ts'
import { type Fault, Killed, Luck } from './luck.ts'
import { checkFinalState, checkNow } from './promises.ts'
import { DAY_MS, MINUTE_MS } from './steam.ts'
import { ModelTill } from './till.ts'
import { createKey, startVault, TillCallFailed } from './vault.ts'
import { addWishes } from './wishing.ts'
import { createWorld, letOthersAct, type SalesWorld } from './world.ts'

export type SalesOutcome = {
  seed: number
  hash: string
  faults: ReadonlyMap<Fault, number>
  offers: number
  violation: { promiseName: string; message: string; stack: string } | undefined
  trace: readonly string[]
}

/** An arbitrary moment. */
const START_MS = 1_800_000_000_000
const DEPOSITS = 14
/** How many turns have faults. */
const FAULTY_TURNS = 160
/** Turns in quick succession, without faults: just before the calm days, and again just after them. */
const BURST_TURNS = 60
/** The time between two of these turns. */
const BURST_PAUSE_MS = MINUTE_MS / 4
/** Long enough for the escrow of an offer, and then the payment of the sale. */
const CALM_DAYS = 32

type Scene = { world: SalesWorld; till: ModelTill; vault: Rounds; pass(ms: number): void }

/** `key`: the vault's key, which does not affect the trace. */
export async function runSales(
  { seed, keepTrace = false }: { seed: number; keepTrace?: boolean },
  key: Key = createKey(),
): Promise<SalesOutcome> {
  const luck = new Luck(seededRandom(seed), keepTrace)
  const scene = sceneOf(luck, key)
  const violation = await playSeed(scene).then(
    () => undefined,
    (error: unknown) => violationOf(error),
  )
  return outcomeOf(scene.world, { seed, violation })
}

export function outcomeOf(
  { luck: { trace, counts }, steam }: SalesWorld,
  { seed, violation }: Pick<SalesOutcome, 'seed' | 'violation'>,
): SalesOutcome {
  if (violation !== undefined) trace.add(violation.message)
  return {
    seed,
    hash: trace.hash(),
    faults: counts,
    offers: steam.offers.length,
    violation,
    trace: trace.lines(),
  }
}

export function violationOf(error: unknown): NonNullable<SalesOutcome['violation']> {
  const violation =
    error instanceof Violation ? error : new Violation('defect', `threw ${String(error)}`, error)
  return { promiseName: violation.promiseName, message: violation.message, stack: violation.stack ?? '' }
}

function sceneOf(luck: Luck, key: Key): Scene {
  let nowMs = START_MS
  const world = createWorld({ luck, key, nowMs: () => nowMs, deposits: DEPOSITS, movedShare: 0.5 })
  world.steam.isWanted = ({ gift }) => isWanted(world, gift.message)
  const till = new ModelTill()
  const scene: Scene = {
    world,
    till,
    vault: startVault(world, portsOf(world, till)),
    pass(ms) {
      nowMs += ms
    },
  }
  return scene
}

/** Whether somebody still waits for the items. A sale can be called off, but not a wish that the vault has taken up. */
export const isWanted = ({ markets }: SalesWorld, message: string): boolean =>
  message.startsWith('vault w') || markets.some((market) => market.waitsFor(message))

/** The vault's access to the till. Calls can fail, and the process can die before or after each. */
function portsOf({ luck, steam }: SalesWorld, till: ModelTill): Parameters<typeof startVault>[1] {
  const callTill = async <T>(effect: () => T): Promise<T> => {
    luck.mayDie()
    if (luck.hits('till away', 0.02)) throw new TillCallFailed('the till is away')
    const answer = effect()
    luck.mayDie()
    return answer
  }
  const wishes: Wishes = {
    open: () => callTill(() => till.openWishes()),
    report: (...report) => callTill(() => till.reportWish(...report)),
  }
  const port: Till = {
    lastReported: () => callTill(() => till.lastReported()),
    report: (news) => callTill(() => till.report(news)),
    isOff: () => callTill(() => false),
    reportBalance: () => callTill(() => undefined),
    reportUnlisted: async () => {},
    costs: (_, assetIds) =>
      callTill(() => {
        const booked = steam.things.filter(({ assetId }) => assetIds.includes(assetId))
        return new Map(booked.map(({ assetId, costCents }) => [assetId, costCents]))
      }),
  }
  return { wishes, till: port, mayDie: () => luck.mayDie() }
}

async function playSeed(scene: Scene): Promise<void> {
  const { world, till, pass } = scene
  const { luck } = world
  for (let count = 0; count < FAULTY_TURNS; count += 1) {
    addWishes(world, till)
    await turn(scene)
    const isQuiet = luck.random.chance(0.1)
    pass(isQuiet ? luck.random.int(DAY_MS / 2) : 15_000 + luck.random.int(5_000))
  }
  luck.isCalm = true
  for (let count = 0; count < BURST_TURNS; count += 1) await calmTurn(scene, BURST_PAUSE_MS)
  world.switchOffMarkets()
  for (let count = 0; count < CALM_DAYS * 2; count += 1) await calmTurn(scene, DAY_MS / 2)
  for (let count = 0; count < BURST_TURNS; count += 1) await calmTurn(scene, BURST_PAUSE_MS)
  checkFinalState(world, scene.vault, till.view())
}

async function calmTurn(scene: Scene, ms: number): Promise<void> {
  await turn(scene)
  scene.pass(ms)
}

async function turn(scene: Scene): Promise<void> {
  const { world, till } = scene
  const { luck } = world
  try {
    await scene.vault.round()
  } catch (error) {
    if (!(error instanceof Killed) && !(error instanceof TillCallFailed)) throw error
  }
  if (luck.isDead) {
    luck.isDead = false
    scene.vault = startVault(world, portsOf(world, till))
    luck.trace.add('the vault was started again')
  }
  letOthersAct(world)
  checkNow(world, scene.vault, till.wishes)
}
