/**
 * What a deposit costs of Steam's patience, and how soon it is known that the shopper accepted: 30 offers stand for a
 * minute on one bot. Then a third of the shoppers accept and come back to the page, a third accept and leave the page
 * alone, and a third accept at once. The page is played by its calls: it polls once a second, and comes back with a
 * poll that knows nothing.
 */
import { randomUUID } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as delay } from 'node:timers/promises'
import { paymentSchema } from '../contract/widget-api.ts'
import { eventually } from '../e2e/process.ts'
import { ask, call, openVisit, showItems } from '../proofs/kill-load.ts'
import { answering, BOTS, botsOnline, type KillTill, openKillTill } from '../proofs/kill-till.ts'
import { STATE } from '../steam-sandbox/world/world.ts'
import { withDatabase } from './database.ts'
import { middle, type Outcome } from './outcome.ts'

const PEOPLE = [
  'nova_hound',
  'quiet_lynx',
  'magic_declines',
  'magic_counters',
  'magic_seller',
  'magic_reverser',
] as const
/** Steam lets a bot have five open offers with one person, and thirty in all. */
const OFFERS_EACH = 5
const STAND_MS = 60_000
const POLL_MS = 1_000
/** Shoppers accept at any time, not in step with the watch over their offers. */
const SPREAD_MS = 5_000
const REQUESTS_LIMIT = 8
const RETURNED_LIMIT_S = 2
const WAITED_LIMIT_S = 5
const STEAM_HOSTS = /\.?(steampowered\.com|steamcommunity\.com)$/

export function benchSteam(): Promise<Outcome> {
  return withDatabase({ fsync: true }, async (serverUrl) => {
    const till = await openKillTill(serverUrl, 'bench')
    const gateway = till.start()
    try {
      await answering(till, gateway)
      await botsOnline(till, 0n)
      await till.pool.query(`update bot set state = 'paused' where name = $1`, [BOTS[1]])
      return await measure(till)
    } finally {
      await gateway.interrupt()
      await till.close()
    }
  })
}

type Standing = { hash: string; person: string; offerId: string }

async function measure(till: KillTill): Promise<Outcome> {
  // Left to themselves: nobody declines or counters by nature.
  till.steam.change((world) => ({
    world: { ...world, accounts: world.accounts.map(({ behaviour: _, ...account }) => account) },
    answer: undefined,
  }))
  const counter = countRequests()
  const standing = await Promise.all(PEOPLE.map((person) => openOffers(till, person)))
  const offers = Array.from({ length: OFFERS_EACH }, (_, turn) =>
    standing.flatMap((own) => own[turn] ?? []),
  ).flat()
  console.log(`steam: ${offers.length} offers stand after ${counter.count()} requests`)
  await delay(STAND_MS)
  const third = Math.floor(offers.length / 3)
  const returned = await timesOf(till, offers.slice(0, third), true)
  const waited = await timesOf(till, offers.slice(third, 2 * third), false)
  await Promise.all(offers.slice(2 * third).map((offer) => timeOf(till, offer, false)))
  const each = counter.count() / offers.length
  counter.end()
  const [returnedS, waitedS] = [middle(returned), middle(waited)]
  console.log(
    `steam: from Accept to the page's succeeded, median ${returnedS.toFixed(2)}s for who comes back (at most ` +
      `${RETURNED_LIMIT_S}s), ${waitedS.toFixed(2)}s for who does not (at most ${WAITED_LIMIT_S}s); slowest ` +
      `${Math.max(...returned).toFixed(2)}s and ${Math.max(...waited).toFixed(2)}s`,
  )
  const passed = each <= REQUESTS_LIMIT && returnedS <= RETURNED_LIMIT_S && waitedS <= WAITED_LIMIT_S
  return {
    name: 'steam',
    ours: `${each.toFixed(2)}/deposit`,
    limit: `<=${REQUESTS_LIMIT}`,
    passed: passed && offers.length === PEOPLE.length * OFFERS_EACH,
  }
}

/** Every request that reaches one of Steam's hosts; the sandbox runs in this process. */
function countRequests() {
  let count = 0
  const see = (message: unknown): void => {
    const { request } = message as { request: { headers: { host?: string } } }
    if (STEAM_HOSTS.test(request.headers.host ?? '')) count += 1
  }
  subscribe('http.server.request.start', see)
  return { count: () => count, end: () => unsubscribe('http.server.request.start', see) }
}

async function openOffers(till: KillTill, person: string): Promise<Standing[]> {
  const opened: Standing[] = []
  const taken = new Set<string>()
  for (let turn = 0; turn < OFFERS_EACH; turn += 1) {
    const hash = await openVisit(till, randomUUID(), person)
    if (hash === undefined) throw new Error(`${person} got no deposit`)
    const shown = await showItems(till, hash, 'cs')
    const dearest = shown?.items.sort((a, b) => b.price - a.price).find(({ id }) => !taken.has(id))
    if (shown === undefined || dearest === undefined) throw new Error(`${person} was shown no item`)
    taken.add(dearest.id)
    await ask(till, { hash, game: 'cs', items: [dearest.id], quoteId: shown.quoteId })
    const offerId = await eventually('the offer stands', async () => {
      const { status, steamTradeId } = await paymentOf(till, hash)
      return status === 'pending' && steamTradeId !== null ? steamTradeId : undefined
    })
    opened.push({ hash, person, offerId })
  }
  return opened
}

async function paymentOf(till: KillTill, hash: string, etag?: string) {
  const headers = etag === undefined ? {} : { 'if-none-match': etag }
  const answer = await call(till, `/api/payment?hash=${hash}`, { headers })
  if (answer === undefined) throw new Error('the gateway does not answer')
  const text = await answer.text()
  const changed = answer.status === 200 ? paymentSchema.parse(JSON.parse(text)) : undefined
  return {
    status: changed?.status,
    steamTradeId: changed?.steamTradeId ?? null,
    etag: answer.headers.get('etag') ?? etag,
  }
}

/** Seconds from Accept, one shopper after the other. */
async function timesOf(till: KillTill, offers: readonly Standing[], comesBack: boolean): Promise<number[]> {
  const seconds: number[] = []
  for (const offer of offers) {
    await delay(Math.random() * SPREAD_MS)
    seconds.push(await timeOf(till, offer, comesBack))
  }
  return seconds
}

async function timeOf(
  till: KillTill,
  { hash, person, offerId }: Standing,
  comesBack: boolean,
): Promise<number> {
  let { etag } = await paymentOf(till, hash, 'W/"none"')
  const hands = till.steam.as(person)
  const stands = hands.received().some(({ id, state }) => id === offerId && state === STATE.active)
  if (!stands) throw new Error(`the offer ${offerId} does not stand any more`)
  hands.accept(offerId)
  const begin = performance.now()
  // The page's next poll is anywhere within its second.
  if (!comesBack) await delay(Math.random() * POLL_MS)
  for (let first = comesBack; ; first = false) {
    const seen = await paymentOf(till, hash, first ? undefined : etag)
    if (seen.status === 'succeeded') return (performance.now() - begin) / 1_000
    etag = seen.etag
    await delay(POLL_MS)
  }
}
