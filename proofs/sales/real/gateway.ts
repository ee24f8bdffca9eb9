/** The gateways' own work, an operator's requests, and wishes of an attacker who controls a gateway. */
import { updateHeldItems } from '../../../gateway/bots/held-item-store.ts'
import type { Tx } from '../../../gateway/db/client.ts'
import type { Signals } from '../../../gateway/db/signals.ts'
import { violates } from '../../../gateway/db/sql-state.ts'
import { inTransaction } from '../../../gateway/db/transaction.ts'
import { bookVaultLog } from '../../../gateway/departures/vault-reports.ts'
import { createWishes, type FreeItem, freeItems, sweepWishes } from '../../../gateway/departures/wish.ts'
import { tradeOfDeposit, withdrawWish } from '../../../gateway/departures/wish-store.ts'
import { setMarketOff } from '../../../gateway/operations/market-store.ts'
import type { SteamTrade } from '../../../gateway/steam/steam.ts'
import type { FakeSession } from '../../../gateway/testing/fake-steam.ts'
import { tradeHandlers } from '../../../gateway/trades/advance.ts'
import type { Gate } from '../../simulation/process.ts'
import type { Thing, Trade } from '../steam.ts'
import { approve } from '../wishing.ts'
import { BOTS, type SalesWorld } from '../world.ts'
import { contextOf, type Deps, depsOf } from './deposits.ts'
import type { Bot, Process, Scene } from './scene.ts'

const NO_SIGNALS: Signals = {
  notify: async () => {},
  until: async (_, check) => check(),
  close: async () => {},
}

const HALF_HOUR_MS = 1_800_000

type Work = (parts: { scene: Scene; process: Process; deps: Deps }) => Promise<unknown>

const SWEEPS: readonly [Work, ...Work[]] = [
  ({ deps }) => sweepWishes(deps),
  ({ deps }) => bookVaultLog(deps),
  ({ scene, process, deps }) => readHistory(scene, process, deps),
  ({ scene, process, deps }) => finishTrades(scene, process, deps),
  ({ deps }) => updateHeldItems(deps.db),
]

export function sweep(scene: Scene, process: Process): Promise<unknown> {
  const { random } = scene.world.luck
  const deps = depsOf(process.connections.db, scene.world.now, NO_SIGNALS)
  return random.pick(SWEEPS)({ scene, process, deps })
}

/** Runs all sweeps, one after the other, and then reads the history of every bot. */
export async function sweepAll(scene: Scene, process: Process): Promise<void> {
  const deps = depsOf(process.connections.db, scene.world.now, NO_SIGNALS)
  for (const work of SWEEPS) await work({ scene, process, deps })
  for (const bot of scene.bots.values()) await readHistoryOf(scene, process, { deps, bot })
}

async function readHistory(scene: Scene, process: Process, deps: Deps): Promise<void> {
  const bot = scene.bots.get(scene.world.luck.random.pick(BOTS))
  if (bot !== undefined) await readHistoryOf(scene, process, { deps, bot })
}

async function readHistoryOf(
  { world }: Scene,
  process: Process,
  { deps, bot }: { deps: Deps; bot: Bot },
): Promise<void> {
  const { session } = bot
  for (const trade of world.steam.trades) {
    if (trade.from === session.steamId)
      session.trades.set(trade.tradeId, { kind: 'trade', trade: rowOf(trade) })
  }
  const waitingContext = { ...contextOf(bot), session: withWaits(session, process.gate) }
  await tradeHandlers(deps).history(waitingContext)
}

/** A trade in which a bot gave items, as Steam's history shows it. */
function rowOf({ tradeId, to, state, beganAtMs, settlesAtMs, items }: Trade): SteamTrade {
  const given = items.map(({ thing, assetId, newAssetId, isBack }) => ({
    appId: thing.appId,
    contextId: '2',
    assetId,
    newAssetId: newAssetId === '' ? null : newAssetId,
    rolledBackAssetId: isBack ? assetId : null,
  }))
  const settlesAt = settlesAtMs === null || state !== 'complete' ? null : new Date(settlesAtMs)
  const about = { begunAt: new Date(beganAtMs), received: [], rollbackOf: null }
  return { tradeId, partnerSteamId: to, state, given, settlesAt, ...about }
}

/** Makes each call to Steam wait for its process's turn. */
function withWaits(session: FakeSession, gate: Gate): FakeSession {
  return new Proxy(session, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        await gate(20, 300)
        return Reflect.apply(value, target, args) as unknown
      }
    },
  })
}

/** Finishes trades whose protection has ended. */
async function finishTrades({ bots, world }: Scene, process: Process, deps: Deps): Promise<void> {
  const dueTrades = await deps.db
    .selectFrom('trade')
    .select(['id', 'bot_id as botId'])
    .where('state', '=', 'held')
    .where('settles_at', '<=', world.now())
    .orderBy('id')
    .execute()
  for (const { id, botId } of dueTrades) {
    const bot = [...bots.values()].find((each) => each.botId === botId)
    if (bot === undefined) continue
    const waitingContext = { ...contextOf(bot), session: withWaits(bot.session, process.gate) }
    await tradeHandlers(deps).trade(waitingContext, id)
  }
}

export async function actAsOperator(scene: Scene, process: Process): Promise<void> {
  const { world } = scene
  const { luck } = world
  const { db } = process.connections
  const act = luck.random.pick(['send', 'send', 'give back', 'give back', 'withdraw', 'switch off'] as const)
  if (act === 'send') await inTransaction(db, (tx) => sendSome(world, tx))
  if (act === 'give back') await inTransaction(db, (tx) => giveBack(world, tx))
  if (act === 'withdraw') await withdrawSome(world, process)
  if (act === 'switch off' && luck.hits('market switched off for a while', 0.5))
    await switchMarketOff(scene, process)
}

async function withdrawSome({ luck }: SalesWorld, { connections: { db } }: Process): Promise<void> {
  const openWishes = await db.selectFrom('wish').select('id').where('closed_at', 'is', null).execute()
  const wish = openWishes[luck.random.int(Math.max(1, openWishes.length))]
  if (wish === undefined) return
  if (await inTransaction(db, (tx) => withdrawWish(tx, wish.id))) luck.note('wish withdrawn')
}

async function sendSome({ luck }: SalesWorld, tx: Tx): Promise<void> {
  const free = await freeItems(tx)
  const chosen = free.slice(0, luck.random.between(1, 3))
  if (chosen.length > 0)
    await createWishes(tx, chosen, { askedBy: 'operator', ask: { kind: 'send', to: 'storage' } })
}

async function giveBack(world: SalesWorld, tx: Tx): Promise<void> {
  const free = await freeItems(tx)
  const picked: FreeItem | undefined = free[world.luck.random.int(Math.max(1, free.length))]
  // `item` is the trade's id, a hyphen and the asset's id.
  const [tradeId = ''] = picked?.item.split('-') ?? []
  if (picked === undefined) return
  const { deposit_id: depositId } = await tx
    .selectFrom('trade')
    .select('deposit_id')
    .where('id', '=', BigInt(tradeId))
    .executeTakeFirstOrThrow()
  const trade = await tradeOfDeposit(tx, depositId)
  const from = world.deposits.find(({ steamTradeId }) => steamTradeId === trade?.steamTradeId)?.from
  if (trade?.steamTradeId == null || from === undefined) return
  const chosen = free.filter(({ item, botId }) => item.startsWith(`${trade.id}-`) && botId === trade.botId)
  if (chosen.length === 0) return
  const ask = { kind: 'return', depositId, steamTradeId: trade.steamTradeId } as const
  const ids = await createWishes(tx, chosen, { askedBy: 'operator', ask })
  const assets = chosen.map(({ appId, assetId }) => ({ appId, contextId: '2', assetId }))
  // The items of a deposit are few, and of one game only, so they become one wish.
  for (const id of ids) approve(world, { id: String(id), assets, from })
}

async function switchMarketOff(scene: Scene, { connections: { db } }: Process): Promise<void> {
  const { world, engine } = scene
  const market = world.luck.random.pick(['market.csgo.com', 'waxpeer.com'])
  await inTransaction(db, (tx) => setMarketOff(tx, market, true))
  engine.after(world.luck.random.int(HALF_HOUR_MS), () => {
    const [process] = scene.gateways.filter(({ isAlive }) => isAlive)
    if (process === undefined) return
    const noteFailure = () => world.luck.trace.add(`${market} stays off`)
    inTransaction(process.connections.db, (tx) => setMarketOff(tx, market, false)).catch(noteFailure)
  })
}

/** Writes wishes, as an attacker with the gateway's database role could. */
export async function attack({ world, bots }: Scene, { connections }: Process): Promise<void> {
  const { luck, steam } = world
  const steamId = luck.random.pick(BOTS)
  const bot = bots.get(steamId)
  const wish = async (thing: Thing | undefined, to: string): Promise<void> => {
    if (bot !== undefined && thing !== undefined)
      await insertWish(connections, { botId: bot.botId, thing, to })
  }
  const pickAny = (things: readonly Thing[]): Thing | undefined =>
    things[luck.random.int(Math.max(1, things.length))]
  if (luck.hits('wish for an item that is not free', 0.3))
    await wish(
      pickAny(steam.things.filter((thing) => thing.owner !== steamId || !steam.isFree(thing))),
      'storage',
    )
  if (luck.hits('wish to a destination that is not on the list', 0.3))
    await wish(pickAny(steam.things.filter(({ owner }) => owner === steamId)), 'thief')
  const onSale = world.markets.flatMap(({ items }) => items.filter(({ stage }) => stage === 'on_sale'))
  const itemsOnSale = steam.things.filter(
    (thing) => thing.owner === steamId && onSale.some(({ assetId }) => assetId === thing.assetId),
  )
  if (itemsOnSale.length > 0 && luck.hits('wish for an item that is on sale', 0.8))
    await wish(pickAny(itemsOnSale), 'storage')
}

type ForgedWish = { botId: bigint; thing: Thing; to: string }

async function insertWish({ db }: Process['connections'], { botId, thing, to }: ForgedWish): Promise<void> {
  try {
    await inTransaction(db, async (tx) => {
      const { id } = await tx
        .insertInto('wish')
        .values({ kind: 'send', bot_id: botId, asked_by: 'operator', destination: to })
        .returning('id')
        .executeTakeFirstOrThrow()
      const { appId: app_id, assetId: asset_id } = thing
      await tx.insertInto('wish_item').values({ wish_id: id, app_id, context_id: '2', asset_id }).execute()
    })
  } catch (error) {
    // The item is already in another open wish.
    if (!violates(error, 'wish_item_once')) throw error
  }
}
