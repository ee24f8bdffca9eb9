/**
 * A read of prices, and whole visits of shoppers, on a till with a year of rows: the calls and jobs of each visit, in
 * the gateway's own order.
 */
import { type BotContext, botQueue } from '../../gateway/bots/bot.ts'
import type { Db } from '../../gateway/db/client.ts'
import type { Signals } from '../../gateway/db/signals.ts'
import { createDeposit, prefillShopper } from '../../gateway/deposits/create.ts'
import { inventoryHandler } from '../../gateway/inventory/jobs.ts'
import { readInventory } from '../../gateway/inventory/service.ts'
import { refreshLocal } from '../../gateway/pricing/jobs.ts'
import type { RefusedReason } from '../../gateway/steam/steam.ts'
import { type FakeSession, fakeSession } from '../../gateway/testing/fake-steam.ts'
import { anItem } from '../../gateway/testing/inventory.ts'
import type { TillDeps } from '../../gateway/testing/till.ts'
import { tradeHandlers } from '../../gateway/trades/advance.ts'
import { cancelDeposit } from '../../gateway/trades/cancellation.ts'
import { requestTrade } from '../../gateway/trades/request.ts'
import type { Task } from './task.ts'

const STORE = { id: 1n }
const ITEM = 'AK-47 | Redline (Field-Tested)'
const DAY_MS = 86_400_000
/** How far the sweep postpones a due trade, which it finds again if the queued job is lost. */
const POSTPONED_MS = 30_000
/** A limit on a store's open deposits that no visit reaches. */
const MOST_OPEN = 10_000
/** The size of the range in which each bot's session numbers its offers. */
const OFFERS_OF_A_BOT = 1_000_000n
const FIRST_ACCOUNT = 700_000_000

type Fleet = { contextOf(botId: bigint): Promise<{ bot: BotContext; session: FakeSession }> }

type OpenOffer = {
  depositId: bigint
  tradeId: bigint
  bot: BotContext
  session: FakeSession
  offerId: string
}

export function visitsOf(deps: TillDeps): Task[] {
  const fleet = fleetOf(deps)
  const steamDeps = { ...deps, signals: steamSignals(deps, fleet) }
  let visits = 0
  /** A visit up to its offer. With `refusal`, Steam refuses the first bot for that reason. */
  const openOffer = (refusal?: RefusedReason): Promise<OpenOffer> => {
    visits += 1
    return makeOffer(steamDeps, { fleet, number: visits, refusal })
  }
  const handlers = tradeHandlers(steamDeps)
  return [
    { name: 'prices of a source', run: () => refreshLocal({ ...deps, sources: [SOURCE] }, NEVER_ABORTED) },
    {
      name: 'a paid visit whose items are taken back',
      async run() {
        const { tradeId, bot, session, offerId } = await openOffer()
        // The sweep postpones a due trade before it wakes the bot.
        const dueAt = new Date(deps.clock.now().getTime() + POSTPONED_MS)
        await deps.db.updateTable('trade').set({ due_at: dueAt }).where('id', '=', tradeId).execute()
        await handlers.trade(bot, tradeId)
        session.accept(offerId, { settlesAt: new Date(deps.clock.now().getTime() + 8 * DAY_MS) })
        await handlers.watch(bot)
        session.takeBack(tradeIdOf(session, offerId))
        await handlers.history(bot)
      },
    },
    {
      name: 'a visit that its store cancels',
      async run() {
        const { depositId, tradeId, bot } = await openOffer()
        await cancelDeposit(steamDeps, STORE.id, depositId)
        await handlers.laneOf(bot, tradeId)
        await handlers.trade(bot, tradeId)
        await cancelDeposit(steamDeps, STORE.id, depositId)
      },
    },
    { name: 'a visit whose first bot is refused', run: () => openOffer('access_denied') },
  ]
}

const NEVER_ABORTED = new AbortController().signal

const SOURCE = {
  name: 'year',
  pace: { everyMs: DAY_MS, gapMs: 0 },
  isLocal: true,
  fetch: async (game: string) =>
    game !== 'cs'
      ? []
      : [
          {
            marketHashName: ITEM,
            usdMicros: 5_500_000n,
            levelUsdMicros: 5_500_000n,
            popularity: 50,
            popularityKind: 'sales7d' as const,
            asOf: new Date(),
          },
        ],
}

function tradeIdOf({ offers }: FakeSession, offerId: string): string {
  const tradeId = offers.get(offerId)?.tradeId
  if (tradeId == null) throw new Error(`the offer ${offerId} was not accepted`)
  return tradeId
}

/** Each bot as the process that holds its lease sees it, with a fake session that is kept for later calls. */
function fleetOf({ db, queue }: TillDeps): Fleet {
  const sessions = new Map<bigint, FakeSession>()
  return {
    async contextOf(botId) {
      const row = await db
        .selectFrom('bot')
        .select(['steam_id', 'lease_epoch'])
        .where('id', '=', botId)
        .executeTakeFirstOrThrow()
      const session = sessions.get(botId) ?? fakeSession(row.steam_id, Number(botId * OFFERS_OF_A_BOT))
      sessions.set(botId, session)
      await queue.ensure(botQueue(botId))
      return { bot: { botId, session, leaseEpoch: row.lease_epoch, mayWrite: () => true }, session }
    },
  }
}

/** Signals that make a bot act immediately whenever a call waits for it. */
function steamSignals(deps: TillDeps, fleet: Fleet): Signals {
  const botOf = async (table: 'trade' | 'inventory_request', id: bigint) => {
    const row = await deps.db
      .selectFrom(table)
      .select('bot_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return fleet.contextOf(row.bot_id)
  }
  return {
    ...deps.signals,
    async until(topic, check, options) {
      const [kind, id = ''] = topic.split(':')
      if (kind === 'trade') {
        const { bot } = await botOf('trade', BigInt(id))
        await tradeHandlers(deps).trade(bot, BigInt(id))
      }
      if (kind === 'inventory') {
        const { bot, session } = await botOf('inventory_request', BigInt(id))
        const items = [1, 2, 3].map((n) => anItem(`${id}000${n}`, ITEM))
        const reading = { ...session, readInventory: async () => ({ kind: 'items', items }) as const }
        await inventoryHandler(deps)({ ...bot, session: reading }, BigInt(id), () => {})
      }
      return deps.signals.until(topic, check, options)
    },
  }
}

type NewVisit = { fleet: Fleet; number: number; refusal: RefusedReason | undefined }

async function makeOffer(deps: TillDeps, { fleet, number, refusal }: NewVisit): Promise<OpenOffer> {
  const { db } = deps
  const { deposit } = await createDeposit({ ...deps, mostOpen: MOST_OPEN }, STORE, {
    externalId: `visit ${number}`,
    currency: 'USD',
    backToStoreUrl: 'https://store.test/',
    tradeUrl: `https://steamcommunity.com/tradeoffer/new/?partner=${FIRST_ACCOUNT + number}&token=abcd-123`,
  })
  const depositId = BigInt(deposit.id)
  await prefillShopper(deps, depositId)
  const hash = deposit.url.slice(-32)
  const page = { ...deps, imageBase: 'https://img.test', maxItems: 50 }
  const { items, quoteId } = await readInventory(page, { hash, game: 'cs' })
  if (quoteId === null) throw new Error('the inventory has no prices')
  const body = { hash, game: 'cs' as const, items: items.slice(0, 2).map(({ id }) => id), quoteId }
  const offerDeps =
    refusal === undefined ? deps : { ...deps, signals: refusingOnce(deps.signals, { db, fleet, refusal }) }
  const answer = await requestTrade(offerDeps, body)
  if (answer.kind !== 'active') throw new Error(`no offer was sent: ${JSON.stringify(answer)}`)
  const sent = await db
    .selectFrom('trade')
    .select(['id', 'bot_id', 'steam_offer_id'])
    .where('deposit_id', '=', depositId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return {
    depositId,
    tradeId: sent.id,
    offerId: sent.steam_offer_id ?? '',
    ...(await fleet.contextOf(sent.bot_id)),
  }
}

type FirstRefusal = { db: Db; fleet: Fleet; refusal: RefusedReason }

/** Makes Steam refuse the bot of the first trade for which a call waits. */
function refusingOnce(signals: Signals, { db, fleet, refusal }: FirstRefusal): Signals {
  let isFirst = true
  return {
    ...signals,
    async until(topic, check, options) {
      if (isFirst && topic.startsWith('trade:')) {
        isFirst = false
        const id = BigInt(topic.slice('trade:'.length))
        const row = await db
          .selectFrom('trade')
          .select('bot_id')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
        const { session } = await fleet.contextOf(row.bot_id)
        session.sends.push({ answer: 'refused', reason: refusal })
      }
      return signals.until(topic, check, options)
    },
  }
}
