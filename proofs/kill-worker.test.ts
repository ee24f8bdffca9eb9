import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Running } from '../e2e/process.ts'
import { STATE } from '../steam-sandbox/world/world.ts'
import { ask, openVisit, showItems } from './kill-load.ts'
import { answering, botsOnline, type KillTill, openKillTill } from './kill-till.ts'

const BACK_WITHIN_MS = 30_000

let till: KillTill
let gateway: Running

beforeAll(async () => {
  till = await openKillTill(inject('databaseUrl'), 'worker')
  gateway = till.start()
  await answering(till, gateway)
  await botsOnline(till, 0n)
})

afterAll(async () => {
  await gateway.interrupt()
  await till.close()
})

/** A shopper who asks for a trade of one item; resolves to what the gateway says at last. */
async function beginTrade(person: string) {
  const hash = (await openVisit(till, randomUUID(), person)) ?? ''
  const shown = await showItems(till, hash, 'dota')
  const [dearest] = shown?.items.sort((a, b) => b.price - a.price) ?? []
  const asked = ask(till, { hash, game: 'dota', items: [dearest?.id], quoteId: shown?.quoteId })
  return { asked, state: () => stateOf(hash), offer: () => offerTo(person) }
}

async function stateOf(hash: string): Promise<string | undefined> {
  const { rows } = await till.pool.query<{ state: string }>(
    'select trade.state from trade join deposit on deposit.id = deposit_id where hash = $1',
    [hash],
  )
  return rows[0]?.state
}

function offerTo(person: string) {
  const received = till.steam.as(person).received()
  return received.find((offer) => offer.state === STATE.active)
}

const told = (type: string) => till.receiver.received.filter(({ body }) => body.includes(`"${type}"`))

test('work that a killed process had in hand goes on within 30 s of its death', async () => {
  const [nova, lynx, late] = ['nova_hound', 'quiet_lynx', 'magic_last_second'] as const
  const soon = { timeout: 20_000, interval: 20 }
  // In its hands: a webhook that the store does not answer,
  const credited = await beginTrade(nova)
  await credited.asked
  await expect.poll(() => told('deposit.pending').length, soon).toBe(1)
  till.receiver.answers.push(() => {})
  till.steam.as(nova).accept(credited.offer()?.id ?? '')
  await expect.poll(() => told('deposit.succeeded').length, soon).toBe(1)
  // an offer that was made and whose answer never came,
  const match = { host: 'steamcommunity.com', path: '/tradeoffer/new/send' }
  await fetch(`${till.steam.url}/control/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ match, effect: { hang: 'after' } }),
  })
  const unanswered = await beginTrade(late)
  await expect.poll(() => unanswered.offer()?.id, soon).toBeDefined()
  expect(await unanswered.state()).toBe('sending')
  // and an offer that stands.
  const standing = await beginTrade(lynx)
  await expect.poll(standing.state, soon).toBe('active')

  await gateway.kill()
  const killedMs = performance.now()
  till.steam.as(lynx).accept(standing.offer()?.id ?? '')
  gateway = till.start()
  const left = () => Math.max(0, BACK_WITHIN_MS - (performance.now() - killedMs))
  await Promise.all([
    expect.poll(() => told('deposit.succeeded').length, { timeout: left() }).toBe(3),
    expect.poll(unanswered.state, { timeout: left() }).toBe('active'),
    expect.poll(standing.state, { timeout: left() }).toBe('final'),
  ])
  const [unheard, ...heard] = told('deposit.succeeded').map(({ headers }) => headers['webhook-id'])
  expect(heard.filter((id) => id === unheard)).toHaveLength(1)
  await Promise.all([standing.asked, unanswered.asked])
})
