/** Measures deposits per second through the whole path, from opening a deposit to its credit. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { paymentSchema } from '../contract/widget-api.ts'
import { MOST_OPEN_OFFERS } from '../gateway/shoppers/allowance.ts'
import { call, openVisit, requestTrade, showItems } from '../proofs/kill/load.ts'
import { openProcessTill, type ProcessTill, untilAnswering, untilBotsOnline } from '../proofs/kill/till.ts'
import { STATE } from '../steam-sandbox/world/world.ts'
import { withDatabase } from './database.ts'
import type { Outcome } from './outcome.ts'

const SHOPPERS = ['nova_hound', 'quiet_lynx', 'magic_reverser', 'magic_last_second'] as const
/** How many visits each shopper makes at the same time: one for each open offer that the till allows an account. */
const VISITS_AT_ONCE = MOST_OPEN_OFFERS
const GAME = 'cs'
const VISITS_OF_EACH = 8
const POLL_EVERY_MS = 50
/** The longest that a deposit may take from its offer to its credit. */
const PATIENCE_MS = 60_000

export function benchDeposit(): Promise<Outcome> {
  return withDatabase({ fsync: true }, async (serverUrl) => {
    const till = await openProcessTill(serverUrl, 'bench')
    const gateway = till.start()
    try {
      await untilAnswering(till, gateway)
      await untilBotsOnline(till, 0n)
      return await measure(till)
    } finally {
      await gateway.interrupt()
      await till.close()
    }
  })
}

async function measure(till: ProcessTill): Promise<Outcome> {
  let credited = 0
  const visitInTurn = async (person: string) => {
    for (let visit = 0; visit < VISITS_OF_EACH / VISITS_AT_ONCE; visit += 1) {
      if (await makeDeposit(till, person)) credited += 1
    }
  }
  const beganMs = performance.now()
  await Promise.all(
    SHOPPERS.flatMap((person) => Array.from({ length: VISITS_AT_ONCE }, () => visitInTurn(person))),
  )
  const perSecond = (credited / (performance.now() - beganMs)) * 1_000
  const wanted = SHOPPERS.length * VISITS_OF_EACH
  console.log(`deposit: ${credited} of ${wanted} credited, ${SHOPPERS.length * VISITS_AT_ONCE} at a time`)
  return { name: 'deposit', ours: `${perSecond.toFixed(2)}/s`, passed: credited === wanted }
}

/** Asset ids that a visit has chosen, so no other visit chooses them. */
const taken = new Set<string>()

async function makeDeposit(till: ProcessTill, person: string): Promise<boolean> {
  const hash = await openVisit(till, randomUUID(), person)
  if (hash === undefined) return false
  const shown = await showItems(till, hash, GAME)
  const free = shown?.items.sort((a, b) => b.price - a.price).filter(({ id }) => !taken.has(id))
  const [dearest] = free ?? []
  if (shown === undefined || dearest === undefined) return logRefusal('nothing to pay with')
  taken.add(dearest.id)
  const answer = await requestTrade(till, { hash, game: GAME, items: [dearest.id], quoteId: shown.quoteId })
  if (answer !== 'active') return logRefusal(answer)
  const endMs = performance.now() + PATIENCE_MS
  while (performance.now() < endMs) {
    // Sends no ETag, like a page that becomes visible again. The till then reads the offer, at most every two seconds.
    const payment = paymentSchema.parse(await (await call(till, `/api/payment?hash=${hash}`))?.json())
    if (payment.status === 'succeeded') return true
    // In the page's API, `steamTradeId` is the number of the offer.
    accept(till, person, payment.steamTradeId)
    await delay(POLL_EVERY_MS)
  }
  return logRefusal('the deposit did not end')
}

function logRefusal(why = 'no final answer'): false {
  console.log(`deposit: not credited: ${why}`)
  return false
}

function accept({ steam }: ProcessTill, person: string, offerId: string | null): void {
  const account = steam.as(person)
  const isOpen = account.received().some(({ id, state }) => id === offerId && state === STATE.active)
  if (isOpen && offerId !== null) account.accept(offerId)
}
