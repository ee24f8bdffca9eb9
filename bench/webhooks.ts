/** Measures how soon an event reaches the store after its commit, without other load. */

import { randomUUID } from 'node:crypto'
import { DEFAULT_FLEET_LIMITS } from '../gateway/bots/fleet.ts'
import { createQueue } from '../gateway/db/boss-queue.ts'
import { openDatabase } from '../gateway/db/client.ts'
import { migrate } from '../gateway/db/migrate.ts'
import { createSignals } from '../gateway/db/pg-signals.ts'
import { createDeposit } from '../gateway/deposits/create.ts'
import { ensureDepositQueues } from '../gateway/deposits/jobs.ts'
import type { DepositDeps } from '../gateway/deposits/service.ts'
import { ensureEventQueue } from '../gateway/events/jobs.ts'
import { systemClock } from '../gateway/kit/clock.ts'
import { systemIds } from '../gateway/kit/ids.ts'
import { createLog } from '../gateway/kit/log.ts'
import { createSecretBox } from '../gateway/kit/secret-box.ts'
import { createLazySteam } from '../gateway/steam/web/lazy-steam.ts'
import { type Receiver, startReceiver, status } from '../gateway/testing/receiver.ts'
import { workOnWebhooks } from '../gateway/testing/webhooks.ts'
import { expireDeposit } from '../gateway/trades/expiry.ts'
import { createTradeStore } from '../gateway/trades/postgres-store.ts'
import { createSender } from '../gateway/webhooks/sender.ts'
import { deliveryWriter } from '../gateway/webhooks/store.ts'
import { withDatabase } from './database.ts'
import type { Outcome } from './outcome.ts'

const EVENTS = 100
/** The share of events that must arrive within the limit. */
const SHARE = 0.95
const LIMIT_MS = 1_000
const BOX = createSecretBox(Buffer.alloc(32, 3))
const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

export function benchWebhooks(): Promise<Outcome> {
  return withDatabase({ fsync: true }, async (url) => {
    await migrate({ url })
    const log = createLog({ level: 'error' })
    const { db, close } = openDatabase(url)
    const [queue, signals] = [await createQueue({ url, log }), await createSignals({ url, log })]
    const receiver = await startReceiver()
    const common = { db, queue, signals, clock: systemClock, ids: systemIds, log, box: BOX }
    await ensureEventQueue(common)
    await ensureDepositQueues(common)
    // Allows the receiver's address, as the operator would for a store on this machine.
    const send = createSender({ mode: 'sandbox', findAllowance: async () => ({ inside: false }) })
    const stop = await workOnWebhooks({
      ...common,
      addDeliveries: deliveryWriter(common),
      send,
      secretsOf: () => [SECRET],
      random: Math.random,
    })
    try {
      return await measure({ ...common, steam: createLazySteam(), publicUrl: 'http://till.test' }, receiver)
    } finally {
      await stop()
      await queue.stop()
      await signals.close()
      await receiver.close()
      await close()
    }
  })
}

async function measure(deps: DepositDeps, receiver: Receiver): Promise<Outcome> {
  const store = await deps.db
    .insertInto('store')
    .values({ name: 'Ember Forge', origins: ['https://store.test'] })
    .returning('id')
    .executeTakeFirstOrThrow()
  await deps.db
    .insertInto('webhook_endpoint')
    .values({ store_id: store.id, url: receiver.url, secret: Buffer.from('sealed') })
    .execute()
  const tookMs: number[] = []
  for (let n = 0; n < EVENTS; n += 1) {
    const arrived = Promise.withResolvers<void>()
    receiver.answers.push((response) => {
      arrived.resolve()
      status(204)(response)
    })
    await expire(deps, store)
    const committedMs = performance.now()
    await arrived.promise
    tookMs.push(performance.now() - committedMs)
  }
  const mostTookMs = tookMs.sort((a, b) => a - b)[EVENTS * SHARE - 1] ?? Number.NaN
  return {
    name: 'webhooks',
    ours: `${Math.round(mostTookMs)}ms`,
    limit: `<=${LIMIT_MS}ms`,
    passed: mostTookMs <= LIMIT_MS,
  }
}

/** Lets a deposit expire, which causes an event. */
async function expire(deps: DepositDeps, store: { id: bigint }): Promise<void> {
  const { deposit } = await createDeposit(deps, store, {
    externalId: randomUUID(),
    currency: 'USD',
    backToStoreUrl: 'https://store.test/',
  })
  const id = BigInt(deposit.id)
  await deps.db
    .updateTable('deposit')
    .set({ expires_at: new Date(0) })
    .where('id', '=', id)
    .execute()
  await expireDeposit(
    { ...deps, trades: createTradeStore({ ...deps, limits: { maxItems: 50, fleet: DEFAULT_FLEET_LIMITS } }) },
    id,
  )
}
