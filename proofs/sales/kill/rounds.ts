/**
 * The real gateway and the real vault in the middle of sales, killed again and again. Afterwards, no item may have been
 * sold twice or given to the wrong account, every sale must have ended, and the till's books must match the markets'.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { eventually, type Running } from '../../../e2e/support/process.ts'
import { DEFAULT_PROTECTION_DAYS } from '../../../gateway/config.ts'
import { verifyLedger } from '../../../gateway/ledger/verify.ts'
import { STATE } from '../../../steam-sandbox/world/world.ts'
import { startLoad } from '../../kill/load.ts'
import { passHour, passMinute, untilAnswering } from '../../kill/till.ts'
import { type Random, seededRandom } from '../../random.ts'
import { checkSales, giftsOf, openDeals, type SaleBooks, saleBooksOf, unsettledSales } from './check.ts'
import { type SaleLoad, startSaleLoad, takeSaleBack } from './load.ts'
import { openSellingTill, passSeconds, type SellingTill, setSendRule } from './till.ts'

export type KilledSales = {
  rounds: number
  problems: string[]
  /** How often the vault died right after each kind of entry in its log. */
  caught: Record<string, number>
  /** How many deals were under way when the vault died, over all of its deaths. */
  dealsCaught: number
  bought: number
  books: SaleBooks
}

type Plan = { rounds: number; seed: number }
/** The result so far, to which each round adds. */
type Notes = Pick<KilledSales, 'problems' | 'caught' | 'dealsCaught'>
type Processes = { gateway: Running; vault: Running }

const DAY_S = 86_400
/** The till's protection of Counter-Strike 2, which is longer than Steam's. */
const PROTECTED_S = DEFAULT_PROTECTION_DAYS.cs * DAY_S
/** Longer than an escrow lasts. */
const ESCROW_S = 16 * DAY_S
/** The share of kills at a random moment. The others follow a chosen entry of the vault's log. */
const KILLED_ANYWHERE = 0.3
/** The longest time before a kill at a random moment. */
const MOST_LIFE_MS = 6_000
/** How long to wait for a chosen entry in the vault's log before killing anyway. */
const UNTIL_HALF_DONE_MS = 8_000
/** The longest time from the chosen entry to the kill. */
const MOST_LAG_MS = 30
/** The longest that any of the waits below may last: enough for a busy machine. */
const WAIT_MS = 600_000
/** Keeps the load's random numbers apart from those that decide when to kill. */
const LOAD_SEED = 2_000_000
/** Days pass after every fourth round, so protection ends and items can be sold. */
const LEAP_EVERY = 4
/** How many items the bots must have before the first kill. */
const LEAST_ITEMS = 4
/** Days pass after this many attempts to take a sale back. */
const ATTEMPTS_PER_LEAP = 150
/** Days pass after this many checks for unsettled work. */
const CHECKS_PER_LEAP = 60

/** Kinds of log entries after which the vault is in the middle of its work. */
const HALF_DONE = [
  ...(['intended', 'send_begun', 'offer_known', 'confirmed'] as const),
  ...(['sale listing_begun', 'sale listed', 'sale deal_intended', 'sale send_begun'] as const),
  ...(['sale offer_known', 'sale confirmed', 'sale told', 'sale delivered', 'sale outcome'] as const),
] as const

/** Runs one world: rounds of start and kill, a wait until nothing changes any more, and the comparison of the books. */
export async function killSales(serverUrl: string, { rounds, seed }: Plan): Promise<KilledSales> {
  const random = seededRandom(seed)
  const till = await openSellingTill(serverUrl, `sales-${seed}`)
  const notes: Notes = { problems: [], caught: {}, dealsCaught: 0 }
  const shoppers = startLoad(till, seededRandom(LOAD_SEED + seed))
  const load = startSaleLoad(till, seededRandom(LOAD_SEED * 2 + seed))
  let processes: Processes = { gateway: till.start(), vault: till.startVault() }
  try {
    await untilForSale(till, processes, load)
    for (let round = 1; round <= rounds; round += 1) {
      processes = await killOne(till, processes, { random, notes })
      console.log(`  killed ${round} of ${rounds}`)
      if (round % LEAP_EVERY === 0) await leap(till, load, PROTECTED_S)
      const differences = await verifyLedger(till.pool)
      notes.problems.push(
        ...differences.map(({ problem, detail }) => `round ${round}: ${problem}: ${detail}`),
      )
    }
    // A deal whose buyer does nothing ends only with its time limit, so each of these steps can take minutes.
    console.log('  waiting for a sale to be paid, and for one that can be taken back')
    await untilPaid(till, load)
    await letSellerTakeBack(till, load)
    processes = await killOne(till, processes, { random, notes })
    load.isCalm = true
    console.log('  waiting until everything has ended')
    await shoppers.stopVisits()
    await settle(till)
    await Promise.all([shoppers.end(), load.end()])
    notes.problems.push(...(await checkSales(till, shoppers.confirmedIds)))
    return { rounds, ...notes, bought: load.purchases(), books: await saleBooksOf(till) }
  } finally {
    await Promise.all([shoppers.end(), load.end()])
    await Promise.all([processes.gateway.interrupt(), processes.vault.interrupt()])
    await till.close()
  }
}

/** Waits until the vault has something for sale. */
async function untilForSale(till: SellingTill, { gateway }: Processes, load: SaleLoad): Promise<void> {
  await untilAnswering(till, gateway)
  const haveItems = async () =>
    (await till.pool.query('select 1 from custody_entry limit $1', [LEAST_ITEMS])).rowCount === LEAST_ITEMS
  await eventually('the bots have items', async () => (await haveItems()) || undefined, WAIT_MS)
  await leap(till, load, PROTECTED_S)
  await passHour(till)
  const isListed = () =>
    [till.market, till.market.waxpeer].some((sandbox) => sandbox.world().items.length > 0)
  await eventually('something is for sale', () => isListed() || undefined, WAIT_MS)
}

/** Kills the gateway, the vault or both, at a random moment or in the middle of work, and starts them again. */
async function killOne(
  till: SellingTill,
  processes: Processes,
  { random, notes }: { random: Random; notes: Notes },
): Promise<Processes> {
  const victim = random.pick(['vault', 'vault', 'gateway', 'both'] as const)
  if (random.chance(KILLED_ANYWHERE)) await delay(random.int(MOST_LIFE_MS))
  else await untilHalfDone(till, random)
  const isVaultDead = victim !== 'gateway'
  const isGatewayDead = victim !== 'vault'
  await Promise.all([
    ...(isVaultDead ? [processes.vault.kill()] : []),
    ...(isGatewayDead ? [processes.gateway.kill()] : []),
  ])
  if (isVaultDead) noteCaught(till, notes)
  if (isGatewayDead) await passMinute(till)
  await passHour(till)
  return {
    vault: isVaultDead ? till.startVault() : processes.vault,
    gateway: isGatewayDead ? till.start() : processes.gateway,
  }
}

async function untilHalfDone(till: SellingTill, random: Random): Promise<void> {
  const awaitedEntry = random.pick(HALF_DONE)
  const endMs = performance.now() + UNTIL_HALF_DONE_MS
  while (performance.now() < endMs && lastEntry(till) !== awaitedEntry) await delay(1)
  await delay(random.int(MOST_LAG_MS))
}

function noteCaught(till: SellingTill, notes: Notes): void {
  const last = lastEntry(till) ?? 'nothing yet'
  notes.caught[last] = (notes.caught[last] ?? 0) + 1
  notes.dealsCaught += openDeals(till).length
}

const entrySchema = z.object({
  entry: z.object({ kind: z.string(), sale: z.object({ kind: z.string() }).optional() }),
})
/** Enough for the last entry of the log. */
const TAIL_BYTES = 8_192

/** The kind of the last entry of the vault's log. */
function lastEntry({ folder }: SellingTill): string | undefined {
  const tail = tailOf(join(folder, 'log.jsonl'))
  const last = tail.slice(0, tail.lastIndexOf('\n')).split('\n').at(-1) ?? ''
  try {
    const { kind, sale } = entrySchema.parse(JSON.parse(last)).entry
    return sale === undefined ? kind : `${kind} ${sale.kind}`
  } catch {
    // The first entry is not completely written yet.
    return undefined
  }
}

function tailOf(file: string): string {
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch {
    // The vault has written nothing yet.
    return ''
  }
  try {
    const { size } = fstatSync(handle)
    const bytes = Buffer.alloc(Math.min(TAIL_BYTES, size))
    readSync(handle, bytes, 0, bytes.length, Math.max(0, size - TAIL_BYTES))
    return bytes.toString()
  } finally {
    closeSync(handle)
  }
}

/** Lets days pass, once no deal or wish is under way, because the leap would end those. */
async function leap(till: SellingTill, load: SaleLoad, seconds: number): Promise<void> {
  const wasCalm = load.isCalm
  load.isCalm = true
  await setSendRule(till, false)
  const isQuiet = async () => {
    const { rows } = await till.pool.query(
      `select 1 from vault_deed where state in ('intended', 'offered') union all
       select 1 from vault_told where answer is null limit 1`,
    )
    const isOpen = giftsOf(till).some(
      ({ state }) => state === STATE.active || state === STATE.needsConfirmation,
    )
    return rows.length === 0 && openDeals(till).length === 0 && !isOpen
  }
  await eventually('no deal is under way', async () => (await isQuiet()) || undefined, WAIT_MS)
  await passDays(till, seconds)
  load.isCalm = wasCalm
  if (!wasCalm) await setSendRule(till, true)
}

/** Lets time pass, one day at a time, because buyers take trades back in the middle of their protection. */
async function passDays(till: SellingTill, seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= DAY_S) await passSeconds(till, Math.min(left, DAY_S))
}

/** Waits until a sale is paid, because a world in which nothing was paid proves little. */
async function untilPaid(till: SellingTill, load: SaleLoad): Promise<void> {
  const isEnough = async () => (await saleBooksOf(till)).paid > 0 || undefined
  await eventually('a sale is paid', isEnough, WAIT_MS).catch(async () => {
    await leap(till, load, PROTECTED_S)
    await eventually('a sale is paid', isEnough, WAIT_MS)
  })
}

/**
 * Waits until a market is keeping the money for an item that Steam still protects. Then the seller takes the item back.
 */
async function letSellerTakeBack(till: SellingTill, load: SaleLoad): Promise<void> {
  let attempts = 0
  await eventually(
    'the account that sells takes back what it gave',
    async () => {
      attempts += 1
      // Only a game that Steam protects will do, and its items must wait for days at the bot before they can be sold.
      if (attempts % ATTEMPTS_PER_LEAP === 0) await leap(till, load, PROTECTED_S)
      return (await takeSaleBack(till)) || undefined
    },
    WAIT_MS,
  )
}

/**
 * Stops new wishes and listings, and lets time pass until everything has ended. Days must pass even while offers are
 * open: for a month after the selling account took a sale back, Steam does not let it accept the bots' gifts.
 */
async function settle(till: SellingTill): Promise<void> {
  await setSendRule(till, false)
  await till.pool.query(
    `insert into market_off (market) values ('market.csgo.com'), ('waxpeer.com') on conflict do nothing`,
  )
  let moving: string[] = []
  let checks = 0
  await eventually(
    'everything is settled',
    async () => {
      checks += 1
      await passHour(till)
      moving = await unsettledSales(till)
      if (moving.length > 0 && checks % CHECKS_PER_LEAP === 0) await passDays(till, ESCROW_S)
      return moving.length === 0 || undefined
    },
    WAIT_MS,
  ).catch(() => {
    throw new Error(`not settled after ${WAIT_MS / 1000} s:\n${moving.slice(0, 20).join('\n')}`)
  })
}
