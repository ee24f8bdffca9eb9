/** Kills a gateway with unfinished work, and checks how the next one continues. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Game } from '../../contract/games.ts'
import { eventually, type Running } from '../../e2e/support/process.ts'
import { STATE } from '../../steam-sandbox/world/world.ts'
import { checkTill, unsettledWork } from './check.ts'
import { openVisit, requestTrade, showItems } from './load.ts'
import type { ProcessTill } from './till.ts'

export type KillReport = {
  /** The process that continues the work. */
  nextGateway: Running
  /** The state, right after the kill, of the trade whose send got no answer from Steam. */
  stateAtKill: string | undefined
  /** Milliseconds from the kill until each piece of unfinished work continued. */
  continuedMs: { webhook: number; send: number; acceptedBefore: number; acceptedAfter: number }
  /** The outcome of each deposit whose offer was accepted. */
  deposits: { title: string; answer: string | undefined; amount: number; credited: Credited }[]
  problems: string[]
}

/** The credit in the ledger, the number of success events in the log, and the credit in the store's webhooks. */
type Credited = { ledger: number; events: number; webhooks: number }

/** Long enough for a busy machine. */
const CONTINUE_MS = 300_000

type TradeRequest = { person: string; game: Game }

/** Asks for a trade of the shopper's most expensive item. */
async function beginTrade(till: ProcessTill, { person, game }: TradeRequest) {
  const externalId = randomUUID()
  const hash = (await openVisit(till, externalId, person)) ?? ''
  const shown = await showItems(till, hash, game)
  const [mostExpensive] = shown?.items.sort((one, other) => other.price - one.price) ?? []
  const answer = requestTrade(till, { hash, game, items: [mostExpensive?.id], quoteId: shown?.quoteId })
  const state = async () => {
    const { rows } = await till.pool.query<{ state: string }>(
      'select trade.state from trade join deposit on deposit.id = deposit_id where hash = $1',
      [hash],
    )
    return rows[0]?.state
  }
  const isOpen = (offer: { state: number; items: { assetId: string }[] }) =>
    offer.state === STATE.active && offer.items.some(({ assetId }) => assetId === mostExpensive?.id)
  const offer = () => till.steam.as(person).received().find(isOpen)
  const accept = () => till.steam.as(person).accept(offer()?.id ?? '')
  return { hash, externalId, amount: mostExpensive?.price ?? 0, answer, state, offer, accept }
}

type Trade = Awaited<ReturnType<typeof beginTrade>>

async function openTrade(till: ProcessTill, request: TradeRequest): Promise<Trade> {
  const trade = await beginTrade(till, request)
  await until(`the offer to ${request.person} is open`, async () => (await trade.state()) === 'active')
  return trade
}

const until = (what: string, check: () => Promise<boolean> | boolean) =>
  eventually(what, async () => (await check()) || undefined, CONTINUE_MS)

/** The webhooks of this event type that the store has received. */
const webhooksOf = ({ receiver }: ProcessTill, type: string) =>
  receiver.received.filter(({ body }) => body.includes(`"${type}"`))

/**
 * Accepts the trade's offer. The store receives the webhook about it, but does not answer. Resolves to the webhook's
 * id.
 */
async function makeUnansweredWebhook(till: ProcessTill, trade: Trade): Promise<unknown> {
  till.receiver.answers.push(() => {})
  trade.accept()
  await until('the store hears of the delivery', () => webhooksOf(till, 'deposit.succeeded').length > 0)
  return webhooksOf(till, 'deposit.succeeded')[0]?.headers['webhook-id']
}

/** Sends an offer. Steam makes the offer, but the till does not get the answer to its request. */
async function loseOfferAnswer(till: ProcessTill): Promise<Trade> {
  till.steam.fault({
    match: { host: 'steamcommunity.com', path: '/tradeoffer/new/send' },
    effect: { hang: 'after' },
  })
  const trade = await beginTrade(till, { person: 'magic_last_second', game: 'dota' })
  await until('the offer is made', () => trade.offer() !== undefined)
  return trade
}

/** Kills the running gateway in the middle of its work. Resolves when the next one has finished that work. */
export async function killOnce(till: ProcessTill, first: Running): Promise<KillReport> {
  await until('all earlier work is done', async () => (await unsettledWork(till)).length === 0)
  const webhooksBefore = webhooksOf(till, 'deposit.pending').length
  const webhookUnanswered = await openTrade(till, { person: 'nova_hound', game: 'dota' })
  const acceptedAfterKill = await openTrade(till, { person: 'quiet_lynx', game: 'dota' })
  const acceptedBefore1 = await openTrade(till, { person: 'nova_hound', game: 'cs' })
  const acceptedBefore2 = await openTrade(till, { person: 'quiet_lynx', game: 'cs' })
  await until(
    'the store hears of four offers',
    () => webhooksOf(till, 'deposit.pending').length === webhooksBefore + 4,
  )
  const webhookId = await makeUnansweredWebhook(till, webhookUnanswered)
  const offerAnswerLost = await loseOfferAnswer(till)
  acceptedBefore1.accept()
  acceptedBefore2.accept()
  await first.kill()
  const killedAtMs = performance.now()
  acceptedAfterKill.accept()
  const stateAtKill = await offerAnswerLost.state()
  const gateway = till.start()
  const timeUntil = async (what: string, check: () => Promise<boolean> | boolean) => {
    await until(what, check).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${gateway.output()}`)
    })
    return performance.now() - killedAtMs
  }
  const timesReceived = () =>
    till.receiver.received.filter(({ headers }) => headers['webhook-id'] === webhookId).length
  // Steam protects items of Counter-Strike 2 only, so those trades are held and the others final.
  const [webhook, send, acceptedBefore, acceptedAfter] = await Promise.all([
    timeUntil('the webhook is repeated', () => timesReceived() > 1),
    timeUntil('the offer is found', async () => (await offerAnswerLost.state()) === 'active'),
    timeUntil('the trades accepted before the kill are held', async () =>
      (await Promise.all([acceptedBefore1.state(), acceptedBefore2.state()])).every(
        (state) => state === 'held',
      ),
    ),
    timeUntil(
      'the trade accepted after the kill is final',
      async () => (await acceptedAfterKill.state()) === 'final',
    ),
  ])
  offerAnswerLost.accept()
  const accepted = { webhookUnanswered, offerAnswerLost, acceptedBefore1, acceptedBefore2, acceptedAfterKill }
  const deposits = []
  for (const [title, trade] of Object.entries(accepted)) {
    await timeUntil(`the store hears of ${title}`, async () => (await creditedOf(till, trade)).webhooks > 0)
    const credited = await creditedOf(till, trade)
    deposits.push({ title, answer: await trade.answer, amount: trade.amount, credited })
  }
  const confirmedIds = Object.values(accepted).map(({ externalId }) => externalId)
  const problems = await checkTill(till, confirmedIds)
  return {
    nextGateway: gateway,
    stateAtKill,
    continuedMs: { webhook, send, acceptedBefore, acceptedAfter },
    deposits,
    problems,
  }
}

const succeededSchema = z.object({
  type: z.string(),
  data: z.object({ externalId: z.string(), amount: z.number().nullable() }),
})

async function creditedOf(till: ProcessTill, { hash, externalId }: Trade): Promise<Credited> {
  const { rows } = await till.pool.query<{ ledger: number; events: number }>(
    `select
      (select coalesce(sum(entry.amount), 0)::int from ledger_entry entry join trade on trade.id = entry.trade_id
        join account on account.id = entry.credit_account
        where trade.deposit_id = deposit.id and entry.cause = 'delivered' and account.kind in ('held', 'available')
      ) as ledger,
      (select count(*)::int from event where deposit_id = deposit.id and type = 'deposit.succeeded') as events
    from deposit where hash = $1`,
    [hash],
  )
  const { ledger = 0, events = 0 } = rows[0] ?? {}
  // A webhook may arrive twice, and the store counts each id once.
  const bodiesById = new Map(
    webhooksOf(till, 'deposit.succeeded').map(({ headers, body }) => [headers['webhook-id'], body]),
  )
  const amounts = [...bodiesById.values()].flatMap((body) => {
    const { data } = succeededSchema.parse(JSON.parse(body))
    return data.externalId === externalId ? [data.amount ?? 0] : []
  })
  return { ledger, events, webhooks: amounts.reduce((sum, amount) => sum + amount, 0) }
}
