/** A separate process that sends webhooks and may be killed at any moment. Its schedule is a thousand times faster. */
import { flushCompileCache } from 'node:module'
import { openDatabase } from '../../gateway/db/client.ts'
import { createSignals } from '../../gateway/db/pg-signals.ts'
import { publishEvents } from '../../gateway/events/service.ts'
import { systemClock } from '../../gateway/kit/clock.ts'
import { createLog } from '../../gateway/kit/log.ts'
import { createSecretBox } from '../../gateway/kit/secret-box.ts'
import { secretsOf } from '../../gateway/webhooks/endpoints.ts'
import { startLanes } from '../../gateway/webhooks/lanes.ts'
import { createSender } from '../../gateway/webhooks/sender.ts'
import { deliveryWriter } from '../../gateway/webhooks/store.ts'

const [url = '', key = ''] = process.argv.slice(2)
const log = createLog({ level: 'silent' })
const { db } = openDatabase(url)
const signals = await createSignals({ url, log })
const box = createSecretBox(Buffer.from(key, 'hex'))
const common = { db, signals, clock: systemClock, log }

startLanes({
  ...common,
  // The deadline is long enough for a store on a busy machine.
  send: createSender({ mode: 'sandbox', findAllowance: async () => ({ inside: false }), deadlineMs: 5_000 }),
  secretsOf: (endpoint) => secretsOf(box, endpoint, systemClock.now()),
  random: Math.random,
  haste: 1_000,
})
console.log('sender ready')
// Saves the compile cache now, because a killed process saves nothing.
flushCompileCache()
for (;;) {
  await publishEvents({ db, addDeliveries: deliveryWriter(common) })
  // Nobody notifies this topic, so this waits for 50 ms.
  await signals.until('no topic', async () => undefined, { timeoutMs: 50 })
}
