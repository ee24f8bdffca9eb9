/** Shoppers and stores of the real level. They make the calls of the payment page and of the store, at any moment. */
import type { ErrorCode } from '../../../contract/errors.ts'
import type { StoreDeposit } from '../../../contract/store-api.ts'
import type { TradeBody } from '../../../contract/widget-api.ts'
import { createDeposit } from '../../../gateway/deposits/create.ts'
import { resolveUser } from '../../../gateway/deposits/service.ts'
import { ProblemError } from '../../../gateway/http/refusal.ts'
import { cancelDeposit } from '../../../gateway/trades/cancellation.ts'
import { requestTrade } from '../../../gateway/trades/request.ts'
import { type Habit, habitOf } from '../habits.ts'
import type { SteamOffer } from '../steam-memory.ts'
import { must } from '../violation.ts'
import { ALL_SHOPPERS, CANARY_TOKEN, type Person } from './people.ts'
import { startInProcess } from './process.ts'
import type { Process, Scene } from './scene.ts'

/** How long new deposits are opened. */
const SHOPPING_MS = 3 * 60_000
/** The share of deposits that their store cancels, and the longest time until then. */
const CANCELLED_SHARE = 0.15
const MOST_CANCEL_MS = 3 * 60_000
/** The share of cancellations during which the shopper accepts, and the longest time until then. */
const ACCEPTED_MEANWHILE = 0.3
const MOMENT_MS = 400
/** How long an offer is open. */
const WINDOW_MS = 300_000
const HOUR_MS = 3_600_000
const MOST_ITEMS = 3
/** How long a quote is valid. */
const QUOTE_MS = 900_000

export type ShoppingScene = Scene & { stores: readonly bigint[]; rateId: bigint }

export function beginShopping(scene: ShoppingScene, deposits: number): void {
  for (let number = 1; number <= deposits; number += 1) {
    scene.engine.after(scene.random.int(SHOPPING_MS), () => visit(scene, number))
  }
}

/** Makes a call to a live process. Repeats it if a fault of the database makes it fail, or if no process is alive. */
function call(scene: ShoppingScene, work: (process: Process) => Promise<void>): void {
  const { engine, random, processes } = scene
  const live = processes.filter(({ isAlive }) => isAlive)
  const process = live[random.int(Math.max(1, live.length))]
  const again = () => engine.after(2_000, () => call(scene, work))
  if (process === undefined) again()
  else startInProcess(scene, () => work(process), again)
}

function visit(scene: ShoppingScene, number: number): void {
  const { engine, random, stores, secrets } = scene
  const storeId = stores[random.int(stores.length)] ?? 0n
  const shopper = ALL_SHOPPERS[random.int(ALL_SHOPPERS.length)]
  if (shopper === undefined) return
  const body = {
    externalId: `top-up ${number}`,
    currency: 'USD',
    backToStoreUrl: 'https://store.test/',
    // For half of the deposits, the store knows its signed-in shopper.
    ...(number % 2 === 0 && { shopper: { steamId: shopper.steamId, lock: true } }),
  } as const
  let first: StoreDeposit | undefined
  const create = () =>
    call(scene, async ({ deps }) => {
      const { deposit } = await createDeposit(deps, { id: storeId }, body)
      must(
        first === undefined || first.url === deposit.url,
        'I11',
        () => `two deposits for ${body.externalId}`,
      )
      if (first !== undefined) return
      first = deposit
      const hash = deposit.url.slice(-32)
      secrets.push(hash)
      engine.after(random.between(500, 5_000), () =>
        nameShopper(scene, { id: BigInt(deposit.id), hash }, shopper),
      )
      const cancel = () => cancelByStore(scene, storeId, BigInt(deposit.id))
      if (random.chance(CANCELLED_SHARE)) engine.after(random.int(MOST_CANCEL_MS), cancel)
    })
  create()
  if (random.chance(0.3)) engine.after(random.between(10, 60_000), create)
}

/** Cancels at any moment: before an offer, while one is sent, open or accepted, and after the deposit's end. */
function cancelByStore(scene: ShoppingScene, storeId: bigint, depositId: bigint): void {
  const { engine, random, faults, trace } = scene
  call(scene, async ({ deps }) => {
    const refusal = await refusalOf(() => cancelDeposit(deps, storeId, depositId))
    trace.add(`${engine.now()} the store cancels deposit ${depositId}: ${refusal ?? 'done'}`)
    if (refusal !== undefined) return
    faults.note('store cancels')
    if (random.chance(ACCEPTED_MEANWHILE)) acceptMeanwhile(scene, depositId)
  })
}

/** Lets the shopper accept at the moment when the bot is asked to cancel. */
function acceptMeanwhile(scene: ShoppingScene, depositId: bigint): void {
  const { engine, random, monitor, scheduler, steam } = scene
  scheduler.beforeNextStep(async () => {
    const { rows } = await monitor.query<{ code: string }>(
      `select secret_code as code from trade where deposit_id = $1 and state = 'active' order by id`,
      [depositId],
    )
    for (const { code } of rows) {
      const offer = steam.byMessage.get(code)
      if (offer !== undefined) engine.after(random.int(MOMENT_MS), () => acceptNow(scene, offer))
    }
  })
}

/** Resolves to the till's refusal; undefined if the call succeeded. */
async function refusalOf(work: () => Promise<unknown>): Promise<ErrorCode | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof ProblemError) return error.code
    throw error
  }
}

type Deposit = { id: bigint; hash: string }

function nameShopper(scene: ShoppingScene, deposit: Deposit, shopper: Person): void {
  const { accountId } = shopper
  const tradeUrl = `https://steamcommunity.com/tradeoffer/new/?partner=${accountId}&token=${CANARY_TOKEN}`
  call(scene, async ({ deps }) => {
    const refusal = await refusalOf(() => resolveUser(deps, { hash: deposit.hash, tradeUrl }))
    // The store has already cancelled the deposit.
    if (refusal === 'deposit_closed') return
    must(refusal === undefined, 'defect', () => `a trade link is refused: ${refusal}`)
    scene.engine.after(scene.random.between(500, 20_000), () =>
      askForTrade(scene, deposit, { shopper, tries: 1 }),
    )
  })
}

type Asker = { shopper: Person; tries: number }

function askForTrade(scene: ShoppingScene, deposit: Deposit, { shopper, tries }: Asker): void {
  const { engine, random, scheduler } = scene
  scheduler.beforeNextStep(async () => {
    const body = await quoteFor(scene, deposit, shopper)
    if (body === undefined) return
    sendRequest(scene, body)
    for (const ms of [2_000, 2_000, 30_000])
      if (random.chance(0.3)) engine.after(ms, () => sendRequest(scene, body))
  })
  engine.after(random.between(70_000, 200_000), () => {
    // Repeats are refused if the deposit has an open trade, or is over.
    if (tries < 3 && random.chance(0.6)) askForTrade(scene, deposit, { shopper, tries: tries + 1 })
  })
}

function sendRequest(scene: ShoppingScene, body: TradeBody): void {
  call(scene, async ({ deps }) => {
    const answer = await requestTrade(deps, body)
    const outcome = answer.kind === 'refused' ? answer.code : answer.kind
    scene.trace.add(`${scene.engine.now()} asked for a trade: ${outcome}`)
  })
}

/** Writes a quote for some items that the shopper has now. */
async function quoteFor(
  scene: ShoppingScene,
  deposit: Deposit,
  { steamId, assets: allAssets }: Person,
): Promise<TradeBody | undefined> {
  const { engine, random, monitor, ids, rateId, steam } = scene
  const owned = allAssets.filter(({ assetId }) => steam.owners.get(assetId) === steamId)
  const [first] = owned
  if (first === undefined) return undefined
  const start = random.int(owned.length)
  const assets = [...owned.slice(start), ...owned.slice(0, start)].slice(0, random.between(1, MOST_ITEMS))
  const game = first.appId === 730 ? 'cs' : 'dota'
  const quoteId = ids.uuid()
  const now = engine.now()
  // Switches off foreign keys, whose checks could deadlock: a process that waits for this code may have locked the row.
  await monitor.query('set session_replication_role = replica')
  await monitor.query(
    `insert into quote (id, deposit_id, game, currency, rate_id, created_at, expires_at)
     values ($1, $2, $3, 'USD', $4, $5, $6)`,
    [quoteId, deposit.id, game, rateId, new Date(now), new Date(now + QUOTE_MS)],
  )
  for (const { assetId, appId } of assets) {
    const price = random.between(1_000, 9_000)
    await monitor.query(
      `insert into quote_item (quote_id, asset_id, app_id, context_id, name, market_hash_name, price, gross)
       values ($1, $2, $3, '2', 'Item', 'Item', $4, $5)`,
      [quoteId, assetId, appId, price, price + random.int(900)],
    )
  }
  await monitor.query('set session_replication_role = origin')
  return { hash: deposit.hash, game, items: assets.map(({ assetId }) => assetId), quoteId }
}

/** Lets shoppers see every offer on Steam except counteroffers, even if the till does not know about it. */
export function lookForOffers(scene: ShoppingScene, seen: Set<string>, until: number): void {
  const { engine, steam } = scene
  for (const offer of steam.offers.values()) {
    if (offer.isCounter || seen.has(offer.offerId)) continue
    seen.add(offer.offerId)
    decideOn(scene, offer)
  }
  if (engine.now() < until) engine.after(1_000, () => lookForOffers(scene, seen, until))
}

function decideOn(scene: ShoppingScene, offer: SteamOffer): void {
  const { engine, random, steam } = scene
  const leftMs = offer.createdAt + WINDOW_MS - engine.now()
  const accept = (ms: number) => engine.after(ms, () => acceptNow(scene, offer))
  const { lie } = offer
  // The shopper accepts an open offer that Steam reports as ended.
  if (lie) accept(lie.from - engine.now() + random.between(2_000, 100_000))
  const soonMs = random.between(500, 120_000)
  const habits: Record<Habit, () => void> = {
    accepts: () => accept(soonMs),
    'accepts at the deadline': () => accept(leftMs + random.between(-3_000, 6_000)),
    'accepts after the deadline': () => accept(leftMs + random.between(0, 90_000)),
    declines: () => engine.after(soonMs, () => steam.decline(offer, 'declined')),
    counters: () => engine.after(soonMs, () => steam.decline(offer, 'countered')),
    // Only somebody with the bot's session can do this.
    cancels: () => engine.after(soonMs, () => steam.decline(offer, 'cancelled')),
    'has no authenticator': () => accept(soonMs),
    'does nothing': () => {},
  }
  if (!lie) habits[habitOf(random)]()
}

function acceptNow(scene: ShoppingScene, offer: SteamOffer): void {
  const { engine, random, steam, trace, scheduler, monitor } = scene
  const hasEscrow = ALL_SHOPPERS.some(
    ({ steamId, hasAuthenticator }) => steamId === offer.partner && !hasAuthenticator,
  )
  if (!steam.accept(offer, { hasEscrow })) return
  trace.add(`${engine.now()} offer ${offer.offerId} accepted`)
  if (hasEscrow) return
  scheduler.beforeNextStep(async () => {
    const { rows } = await monitor.query<{ state: string }>(
      'select state from trade where secret_code = $1',
      [offer.message],
    )
    for (const { state } of rows) noteLateAcceptance(scene, state)
  })
  if (!random.chance(0.3)) return
  const afterMs = random.chance(0.25) ? random.between(1_000, 120_000) : random.int(160 * HOUR_MS)
  engine.after(afterMs, () => takeBack(scene, offer))
}

const ENDS = ['refused', 'abandoned', 'declined', 'countered', 'invalid', 'timed_out'] as const

function noteLateAcceptance({ faults }: ShoppingScene, state: string): void {
  const end = ENDS.find((known) => known === state)
  if (end !== undefined) faults.note(`acceptance after ${end}`)
}

function takeBack(scene: ShoppingScene, offer: SteamOffer): void {
  const { engine, random, steam, trace } = scene
  const steamTrade = steam.steamTrades.get(offer.tradeId ?? '')
  if (steamTrade === undefined) return
  const someAssetIds = steamTrade.items
    .slice(0, random.between(1, steamTrade.items.length))
    .map(({ asset }) => asset.assetId)
  const isTakenBack = steam.reverse(steamTrade, random.chance(0.5) ? undefined : someAssetIds)
  if (isTakenBack) trace.add(`${engine.now()} Steam trade ${steamTrade.tradeId} taken back`)
  if (isTakenBack && random.chance(0.3)) engine.after(random.int(24 * HOUR_MS), () => takeBack(scene, offer))
}
