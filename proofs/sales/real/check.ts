/** Checks the promises of sales against the till's database. */
import type pg from 'pg'
import { z } from 'zod'
import type { SaleState } from '../../../gateway/db/sale-tables.ts'
import { SALE_EDGES } from '../../../gateway/departures/sale.ts'
import { verifyLedger } from '../../../gateway/ledger/verify.ts'
import type { Wish } from '../../../vault/giving/judge.ts'
import { must } from '../../simulation/violation.ts'
import { checkFinalState, checkNow, type SaleView, type TillView, type WishView } from '../promises.ts'
import { BOTS } from '../world.ts'
import type { Scene } from './scene.ts'

const assetsSchema = z.array(z.object({ appId: z.int(), contextId: z.string(), assetId: z.string() }))
const wishSchema = z
  .object({
    id: z.string(),
    from: z.string(),
    kind: z.enum(['send', 'return']),
    destination: z.string().nullable(),
    steamTradeId: z.string().nullable(),
    assets: assetsSchema,
    state: z.string().nullable(),
    isOpen: z.boolean(),
  })
  .transform(({ id, from, kind, destination, steamTradeId, assets, state, isOpen }): WishView => {
    const ask: Wish['ask'] =
      kind === 'send' ? { kind, to: destination ?? '' } : { kind, steamTradeId: steamTradeId ?? '' }
    return { id, fromSteamId: from, assets, ask, state: stateOf(state), isOpen }
  })

function stateOf(state: string | null): WishView['state'] {
  if (state === 'refused' || state === 'delivered' || state === 'ended') return state
  return state === 'intended' || state === 'offered' ? 'under way' : 'waiting'
}

async function readWishes(monitor: pg.ClientBase): Promise<WishView[]> {
  const { rows } = await monitor.query(
    `select wish.id::text, bot.steam_id as from, kind, destination, wish.steam_trade_id as "steamTradeId", deed.state,
       closed_at is null as "isOpen", (select json_agg(json_build_object('appId', app_id, 'contextId', context_id,
         'assetId', asset_id)) from wish_item where wish_id = wish.id) as assets
     from wish join bot on bot.id = bot_id left join vault_deed deed on deed.wish_id = wish.id order by wish.id`,
  )
  return z.array(wishSchema).parse(rows)
}

const saleSchema = z.object({ key: z.string(), market: z.string(), assetId: z.string(), state: z.string() })

async function readSales(monitor: pg.ClientBase): Promise<SaleView[]> {
  const { rows } = await monitor.query(
    `select market || '/' || reference as key, market, listed_asset_id as "assetId", state from sale order by id`,
  )
  return z.array(saleSchema).parse(rows)
}

/** The state of each sale at the last check, by scene. */
const seenSales = new WeakMap<Scene, Map<string, string>>()

/** Checks the promises that hold at every moment, and that each sale has changed only along `SALE_EDGES`. */
export async function checkScene(scene: Scene): Promise<void> {
  const { world, rounds, monitor } = scene
  checkNow(world, rounds, await readWishes(monitor))
  const statesBefore = seenSales.get(scene) ?? new Map<string, string>()
  const sales = await readSales(monitor)
  for (const { key, state } of sales) {
    const previous = statesBefore.get(key)
    must(
      previous === undefined || mayBecome(previous, state),
      'I23',
      () => `the sale ${key} went from ${previous} to ${state}`,
    )
    if (previous !== state) world.luck.trace.add(`sale ${key} ${state}`)
  }
  seenSales.set(scene, new Map(sales.map(({ key, state }) => [key, state])))
}

/**
 * Whether `SALE_EDGES` lead from one state to the other in any number of steps, because several may have happened since
 * the last check.
 */
function mayBecome(from: string, to: string): boolean {
  const reached = new Set([from])
  for (const state of reached) for (const next of SALE_EDGES[state as SaleState] ?? []) reached.add(next)
  return reached.has(to)
}

/** Checks the promises that hold once nothing changes any more. */
export async function checkAtRest(scene: Scene): Promise<void> {
  const { world, rounds, monitor, sessions } = scene
  const view: TillView = { sales: await readSales(monitor), wishes: await readWishes(monitor) }
  checkFinalState(world, rounds, view)
  await checkBooks(scene)
  await checkCustody(scene)
  const [alarm] = (await monitor.query(ALARMS)).rows
  must(alarm === undefined, 'I25', () => z.object({ line: z.string() }).parse(alarm).line)
  const [difference] = await verifyLedger(sessions.pool)
  must(
    difference === undefined,
    'I13',
    () => `the check of the ledger: ${difference?.problem}, ${difference?.detail}`,
  )
}

const ALARMS = `
  select 'the departure ' || steam_trade_id || ' is not explained' as line from departure where explanation is null
  union all select 'report ' || n || ' of ' || market || '/' || reference || ' was answered with ' || answer from vault_told
    where answer not in ('recorded', 'known', 'changed', 'unchanged')
  union all select 'report ' || n || ' has no answer' from vault_told where answer is null`

const booksSchema = z.array(z.object({ market: z.string(), kind: z.string(), cents: z.number() }))

/** Checks that each market's accounts match what it paid. */
async function checkBooks({ world, monitor }: Scene): Promise<void> {
  const { rows } = await monitor.query('select market, kind, (-balance)::int as cents from market_account')
  const books = booksSchema.parse(rows)
  for (const { name, items } of world.markets) {
    const balance = (kind: string) =>
      books.find((each) => each.market === name && each.kind === kind)?.cents ?? 0
    const paid = items.reduce((sum, { end }) => {
      if (end?.kind === 'paid') return sum + Number(end.receivedMinor)
      return end?.kind === 'reversed' ? sum + Number(end.refundMinor) : sum
    }, 0)
    must(
      balance('free') === paid,
      'I23',
      () => `${name} paid ${paid} cents, the books have ${balance('free')}`,
    )
    must(balance('settling') === 0, 'I23', () => `${balance('settling')} cents are settling on ${name}`)
  }
}

/** Checks that the bots have exactly the items in the books, under the same asset ids. */
async function checkCustody({ world, monitor }: Scene): Promise<void> {
  const { rows } = await monitor.query(
    `select distinct on (trade_id, asset_id) bot.steam_id as bot, received_asset_id as asset, moved
     from custody_entry entry join bot on bot.id = bot_id order by trade_id, asset_id, entry.id desc`,
  )
  const booked = z
    .array(z.object({ bot: z.string(), asset: z.string().nullable(), moved: z.string() }))
    .parse(rows)
    .flatMap(({ bot, asset, moved }) => (moved === 'in' ? [`${bot} has ${asset}`] : []))
    .sort()
  const actual = world.steam.things
    .flatMap(({ owner, assetId }) => (BOTS.some((bot) => bot === owner) ? [`${owner} has ${assetId}`] : []))
    .sort()
  const missing =
    booked.find((line) => !actual.includes(line)) ?? actual.find((line) => !booked.includes(line))
  must(missing === undefined, 'I18', () => `books and bots differ: ${missing}`)
}
