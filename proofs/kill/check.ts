/** Checks that nothing was lost or doubled: compares the database with Steam's world and with the store's webhooks. */
import type pg from 'pg'
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import { verifyLedger } from '../../gateway/ledger/verify.ts'
import { STATE } from '../../steam-sandbox/world/world.ts'
import { BOTS, type ProcessTill } from './till.ts'

export type WorkCounts = {
  deliveries: number
  /** Deliveries that were taken back, whole or in part. */
  reversals: number
  creditedMinor: number
  events: number
  webhooks: number
}

/** Returns a line for each problem. `confirmedIds`: the external ids of deposits that were confirmed to the store. */
export async function checkTill(till: ProcessTill, confirmedIds: readonly string[]): Promise<string[]> {
  const differences = await verifyLedger(till.pool)
  return [
    ...differences.map(({ problem, detail }) => `${problem}: ${detail}`),
    ...(await compareOffersWithCredits(till)),
    ...(await compareReversals(till)),
    ...(await compareItemsWithCustody(till)),
    ...(await checkConfirmedDeposits(till, confirmedIds)),
    ...(await compareWebhooksWithEvents(till)),
  ]
}

/**
 * Checks that exactly the bots' accepted offers are credited, each under its own Steam trade. Also checks that no offer
 * is open, and no secret code was sent twice.
 */
async function compareOffersWithCredits({ pool, steam }: ProcessTill): Promise<string[]> {
  const problems: string[] = []
  const rows = await readRows(
    pool,
    `select steam_offer_id as offer, steam_trade_id as "steamTrade", state from trade
     where steam_offer_id is not null and delivered_at is not null`,
    z.object({ offer: z.string(), steamTrade: z.string(), state: z.string() }),
  )
  const creditByOffer = new Map(rows.map((row) => [row.offer, row]))
  const bots = new Set(BOTS.map((name) => steam.as(name).steamId))
  // If all items went back before the till had seen the trade, it is never credited.
  const takenBack = new Set(wholeReversals(steam))
  // Offers that give items are the vault's.
  const sent = steam.world().offers.filter((offer) => bots.has(offer.sender) && offer.give.length === 0)
  for (const offer of sent) {
    const row = creditByOffer.get(offer.id)
    if (offer.state === STATE.accepted && row === undefined && !takenBack.has(offer.tradeId ?? '')) {
      problems.push(`offer ${offer.id} was accepted and not credited`)
    }
    if (offer.state !== STATE.accepted && row !== undefined) {
      problems.push(`offer ${offer.id} is in state ${offer.state} and credited`)
    }
    if (row !== undefined && row.steamTrade !== offer.tradeId) {
      problems.push(`offer ${offer.id} was credited for Steam trade ${row.steamTrade}, not ${offer.tradeId}`)
    }
    if (offer.state === STATE.active) problems.push(`offer ${offer.id} is still open`)
    creditByOffer.delete(offer.id)
  }
  const offersByCode = Map.groupBy(sent, (offer) => offer.message)
  for (const [code, offers] of offersByCode) {
    if (offers.length > 1) problems.push(`code ${code} was sent ${offers.length} times`)
  }
  for (const offer of creditByOffer.keys()) problems.push(`offer ${offer} is credited and not on Steam`)
  return problems
}

/** Ids of Steam's trades whose items all went back. */
const wholeReversals = (steam: ProcessTill['steam']): string[] =>
  steam
    .world()
    .trades.filter(({ items }) => items.every(({ rolledBackAssetId }) => rolledBackAssetId))
    .map(({ id }) => id)

/** Checks that exactly the items that went back on Steam are no longer credited. */
async function compareReversals(till: ProcessTill): Promise<string[]> {
  const rows = await readRows(
    till.pool,
    `select steam_trade_id as trade, asset_id as asset from trade_item join trade on trade.id = trade_id
     where reversed_at is not null`,
    z.object({ trade: z.string(), asset: z.string() }),
  )
  const recorded = new Set(rows.map(({ trade, asset }) => `${trade} ${asset}`))
  const reversedItems = await reversedOnSteam(till)
  return [
    ...reversedItems
      .filter((item) => !recorded.has(item))
      .map((item) => `went back, and is still credited: ${item}`),
    ...[...recorded]
      .filter((item) => !reversedItems.includes(item))
      .map((item) => `reversed, but not on Steam: ${item}`),
  ]
}

/** Returns the Steam trade and asset id of each item that went back on Steam, in trades that the till has credited. */
async function reversedOnSteam({ pool, steam }: Pick<ProcessTill, 'pool' | 'steam'>): Promise<string[]> {
  const rows = await readRows(
    pool,
    'select steam_trade_id as trade from trade where delivered_at is not null',
    z.object({ trade: z.string() }),
  )
  const delivered = new Set(rows.map(({ trade }) => trade))
  return steam
    .world()
    .trades.flatMap(({ id, items }) =>
      delivered.has(id)
        ? items.flatMap(({ assetId, rolledBackAssetId }) => (rolledBackAssetId ? [`${id} ${assetId}`] : []))
        : [],
    )
}

/** Checks that the bots have exactly the items that are in custody. */
async function compareItemsWithCustody({ pool, steam }: ProcessTill): Promise<string[]> {
  const rows = await readRows(
    pool,
    `select bot.steam_id as bot, received_asset_id as item
     from custody_entry c join bot on bot.id = c.bot_id where moved = 'in' and not exists (
       select from custody_entry later where later.trade_id = c.trade_id and later.asset_id = c.asset_id
         and later.id > c.id)`,
    z.object({ bot: z.string(), item: z.string().nullable() }),
  )
  const inCustody = new Set(rows.map(({ bot, item }) => `${bot} ${item}`))
  const real = new Set(
    BOTS.flatMap((name) => {
      const bot = steam.as(name)
      return bot.items().map(({ assetId }) => `${bot.steamId} ${assetId}`)
    }),
  )
  return [
    ...[...real]
      .filter((item) => !inCustody.has(item))
      .map((item) => `not in custody, but in the bot's hands: ${item}`),
    ...[...inCustody]
      .filter((item) => !real.has(item))
      .map((item) => `in custody, but not in the bot's hands: ${item}`),
    ...(rows.length === inCustody.size ? [] : ['an item is in custody twice']),
  ]
}

/** Checks that every deposit that was confirmed to the store exists once. */
async function checkConfirmedDeposits(
  { pool }: ProcessTill,
  confirmedIds: readonly string[],
): Promise<string[]> {
  const rows = await readRows(pool, 'select external_id as id from deposit', z.object({ id: z.string() }))
  const existing = new Set(rows.map(({ id }) => id))
  const lost = confirmedIds
    .filter((id) => !existing.has(id))
    .map((id) => `deposit ${id} was confirmed, but does not exist`)
  return [...lost, ...(existing.size === rows.length ? [] : ['a deposit exists twice'])]
}

const EPOCH_STARTED = 'epoch.started'

const webhookSchema = z.object({
  type: z.string(),
  sequence: z.number(),
  data: z.looseObject({
    id: z.string().default(''),
    amount: z.number().nullable().default(null),
    heldAmount: z.number().default(0),
    reversedAmount: z.number().default(0),
  }),
})

/**
 * Checks that the events of an epoch are numbered without gaps, and each reached the store. Also checks that the
 * webhooks were signed, and reported exactly the credit of each deposit.
 */
async function compareWebhooksWithEvents(till: ProcessTill): Promise<string[]> {
  const events = await readRows(
    till.pool,
    'select id, type, sequence::int from event order by sequence',
    z.object({ id: z.string(), type: z.string(), sequence: z.number().nullable() }),
  )
  const problems: string[] = []
  let expectedSequence = 1
  for (const { id, type, sequence } of events) {
    // The first number of a new epoch is far above the last one of the epoch before.
    const isRight =
      type === EPOCH_STARTED ? (sequence ?? 0) >= expectedSequence : sequence === expectedSequence
    if (!isRight) problems.push(`event ${id} has the sequence ${sequence}, not ${expectedSequence}`)
    expectedSequence = (sequence ?? expectedSequence) + 1
  }
  const sequences = new Map(events.map(({ id, sequence }) => [id, sequence]))
  const contents = new Map<string, Content>()
  const signer = new Webhook(till.secrets.webhookSecret)
  for (const { headers, body } of till.receiver.received) {
    const id = String(headers['webhook-id'])
    if (!isSigned(signer, { headers, body })) problems.push(`webhook ${id} is not signed`)
    const { type, sequence, data } = webhookSchema.parse(JSON.parse(body))
    if (sequences.get(id) !== sequence) problems.push(`webhook ${id} has the sequence ${sequence}`)
    const { id: deposit, amount, heldAmount, reversedAmount } = data
    const content: Content = {
      type,
      sequence,
      deposit,
      amounts: [amount ?? 0, heldAmount, reversedAmount].join(' '),
    }
    const earlier = contents.get(id) ?? content
    if (JSON.stringify(earlier) !== JSON.stringify(content))
      problems.push(`webhook ${id} arrived again with other contents`)
    contents.set(id, content)
  }
  for (const { id } of events) if (!contents.has(id)) problems.push(`event ${id} never reached the store`)
  return [...problems, ...(await compareWithDeposits(till, [...contents.values()]))]
}

/** The contents of a webhook. `amounts`: credited, held and reversed. */
type Content = { type: string; sequence: number; deposit: string; amounts: string }

/** Compares each deposit's amounts with the last webhook about it. A success must be reported by exactly one. */
async function compareWithDeposits({ pool }: ProcessTill, contents: readonly Content[]): Promise<string[]> {
  const deposits = await readRows(
    pool,
    `select id::text, (status = 'succeeded')::int as successes,
       concat_ws(' ', coalesce(credited_amount, 0), held_amount, reversed_amount) as amounts from deposit`,
    z.object({ id: z.string(), successes: z.number(), amounts: z.string() }),
  )
  const ofDeposit = Map.groupBy(contents, ({ deposit }) => deposit)
  return deposits.flatMap(({ id, successes, amounts }) => {
    const reports = (ofDeposit.get(id) ?? []).toSorted((a, b) => a.sequence - b.sequence)
    const reportedSuccesses = reports.filter(({ type }) => type === 'deposit.succeeded').length
    const lastAmounts = reports.at(-1)?.amounts ?? '0 0 0'
    return [
      ...(reportedSuccesses === successes
        ? []
        : [`deposit ${id} succeeded ${successes} times, and its webhooks reported ${reportedSuccesses}`]),
      ...(lastAmounts === amounts
        ? []
        : [
            `deposit ${id} has credited, held and reversed ${amounts}, and its webhooks reported ${lastAmounts}`,
          ]),
    ]
  })
}

type Received = { headers: Record<string, unknown>; body: string }

/** Ignores the age of the signature: the books are compared after all rounds, which may be an hour later. */
function isSigned(signer: Webhook, { headers, body }: Received): boolean {
  const [id, seconds, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    String(headers[`webhook-${name}`]),
  )
  const at = new Date(Number(seconds) * 1000)
  return signatures?.split(' ').includes(signer.sign(id ?? '', at, body)) === true
}

export async function countWork({ pool, receiver }: ProcessTill): Promise<WorkCounts> {
  const [row] = await readRows(
    pool,
    `select (select count(*)::int from trade where delivered_at is not null) as deliveries,
      (select count(*)::int from trade where reversed_amount > 0) as reversals,
      (select coalesce(sum(total), 0)::int from trade where delivered_at is not null) as "creditedMinor",
      (select count(*)::int from event) as events`,
    z.object({
      deliveries: z.number(),
      reversals: z.number(),
      creditedMinor: z.number(),
      events: z.number(),
    }),
  )
  const { deliveries = 0, reversals = 0, creditedMinor = 0, events = 0 } = row ?? {}
  return { deliveries, reversals, creditedMinor, events, webhooks: receiver.received.length }
}

/** Returns a line for everything that must still change before the books can be compared. */
export async function unsettledWork(till: Pick<ProcessTill, 'pool' | 'steam'>): Promise<string[]> {
  const { pool } = till
  const rows = await readRows(
    pool,
    `select 'trade ' || id || ' is ' || state as line from trade
       where state in ('intended', 'sending', 'unknown', 'active')
     union all select 'event ' || id || ' has no sequence' from event where sequence is null
     union all select 'webhook ' || event_id || ' is due' from webhook_delivery where state = 'due'`,
    z.object({ line: z.string() }),
  )
  const reversals = await readRows(
    pool,
    `select steam_trade_id || ' ' || asset_id as item from trade_item join trade on trade.id = trade_id
     where reversed_at is not null`,
    z.object({ item: z.string() }),
  )
  const recorded = new Set(reversals.map(({ item }) => item))
  const unrecorded = (await reversedOnSteam(till)).filter((item) => !recorded.has(item))
  return [...rows.map(({ line }) => line), ...unrecorded.map((item) => `went back unnoticed: ${item}`)]
}

export async function readRows<T>(pool: pg.Pool, sql: string, rowSchema: z.ZodType<T>): Promise<T[]> {
  return z.array(rowSchema).parse((await pool.query(sql)).rows)
}
