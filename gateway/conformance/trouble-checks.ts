/** Checks for broken networks, repeated, parallel and large calls, newer or restored tills, and the event log. */
import type { StoreDeposit } from '../../contract/store-api.ts'
import type { Check } from './check.ts'
import { describeReply, isAccepted } from './handler-client.ts'
import { AMOUNT_MINOR, withChange } from './invented.ts'
import {
  checkBalanceChange,
  deliverAll,
  failed,
  incomplete,
  type Kit,
  mustAccept,
  PASSED,
  pause,
  until,
  type Verdict,
} from './kit.ts'

const DELIVERY = 'webhooks.md#delivery'
const AT_ONCE = 50
const SLOW_CALLERS = 20
/** The value of a field that a later version adds. */
const NEW_FIELD = { number: 1, list: ['a', 'b'] }

const paid = (deposit: StoreDeposit): StoreDeposit =>
  withChange(deposit, { status: 'succeeded', amount: AMOUNT_MINOR })

const paidEvent = async (kit: Kit) => kit.event('deposit.succeeded', paid(await kit.newDeposit()))

export const TROUBLE_CHECKS: readonly Check[] = [
  {
    name: 'repeated-at-once',
    title: 'one event that arrives three times at once is credited once',
    document: DELIVERY,
    async run(kit) {
      const event = await paidEvent(kit)
      return checkBalanceChange(kit, { change: AMOUNT_MINOR }, async () => {
        const replies = await Promise.all([1, 2, 3].map(() => kit.deliver(event)))
        const [refused] = replies.filter((reply) => !isAccepted(reply))
        if (refused !== undefined && !replies.some(isAccepted)) return `${describeReply(refused)} three times`
        return mustAccept(await kit.deliver(event))
      })
    },
  },
  {
    name: 'new-at-once',
    title: 'two events of a new deposit that arrive at the same moment credit it once',
    document: DELIVERY,
    async run(kit) {
      const deposit = paid(await kit.newDeposit())
      const events = [kit.event('deposit.succeeded', deposit), kit.event('deposit.funds_available', deposit)]
      return checkBalanceChange(kit, { change: AMOUNT_MINOR }, async () => {
        const sent = await Promise.all(
          events.map(async (event) => ({ event, reply: await kit.deliver(event) })),
        )
        // A handler may refuse one event while it books the other: the till sends the refused one again.
        const refused = sent.filter(({ reply }) => !isAccepted(reply))
        return deliverAll(
          kit,
          refused.map(({ event }) => event),
        )
      })
    },
  },
  {
    name: 'answer-lost',
    title: 'an event that is repeated because its answer was lost is credited once',
    document: DELIVERY,
    async run(kit) {
      const event = await paidEvent(kit)
      return checkBalanceChange(kit, { change: AMOUNT_MINOR }, async () => {
        await kit.handlerClient.sendAndBreakOff(kit.sign(event))
        await pause(kit.patience.quietMs)
        return mustAccept(await kit.deliver(event))
      })
    },
  },
  {
    name: 'unknown-type',
    title: 'an event of an unknown type is answered 2xx',
    document: 'webhooks.md#endpoints',
    async run(kit) {
      const event = {
        id: crypto.randomUUID(),
        type: 'till.something_new',
        timestamp: kit.clock.now().toISOString(),
        sequence: kit.unwrittenEvent('deposit.pending', await kit.newDeposit()).sequence,
        data: { grown: NEW_FIELD, amount: AMOUNT_MINOR },
      }
      return checkBalanceChange(kit, { change: 0 }, async () =>
        mustAccept(await kit.handlerClient.send(kit.sign(event))),
      )
    },
  },
  {
    name: 'new-epoch',
    title: 'the event of a restored till changes no balance, and the next deposit is credited',
    document: 'store-guide.md#after-the-till-was-restored',
    async run(kit) {
      const epoch = kit.newEpoch()
      const event = await paidEvent(kit)
      return checkBalanceChange(kit, { change: AMOUNT_MINOR }, async () => {
        return mustAccept(await kit.deliver(epoch)) ?? mustAccept(await kit.deliver(event))
      })
    },
  },
  {
    name: 'lost-payment',
    title: 'the credit stays if a restored till, which lost the payment, reports the deposit as unpaid',
    document: 'store-guide.md#after-the-till-was-restored',
    async run(kit) {
      const deposit = await kit.newDeposit()
      const events = [
        kit.event('deposit.succeeded', paid(deposit)),
        kit.newEpoch(),
        kit.event(
          'deposit.payment_timeout',
          withChange(deposit, { status: 'paymentTimeout', endReason: 'expired' }),
        ),
      ]
      return checkBalanceChange(kit, { change: AMOUNT_MINOR }, () => deliverAll(kit, events))
    },
  },
  {
    name: 'unknown-field',
    title: 'unknown fields and statuses do no harm',
    document: 'webhooks.md#catalogue',
    async run(kit) {
      const event = await paidEvent(kit)
      const withNewFields = { ...event, grown: NEW_FIELD, data: { ...event.data, grown: NEW_FIELD } }
      const unpaid = withChange(await kit.newDeposit(), { endReason: 'something_new' })
      const timeout = kit.event('deposit.trade_timeout', unpaid)
      const withNewStatus = { ...timeout, data: { ...timeout.data, status: 'somethingNew' } }
      return checkBalanceChange(kit, { change: AMOUNT_MINOR }, async () => {
        return (
          mustAccept(await kit.handlerClient.send(kit.sign(withNewFields))) ??
          mustAccept(await kit.handlerClient.send(kit.sign(withNewStatus)))
        )
      })
    },
  },
  {
    name: 'large-body',
    title: 'a body of 18 KB, with letters of many languages and spaces between its fields, is accepted',
    document: 'webhooks.md#verify',
    async run(kit) {
      const deposit = await kit.newDeposit()
      const texts = Array.from({ length: 20 }, (_, n) => [`note ${n}`, 'ü Я 漢 🔑 '.repeat(55)])
      const metadata = { ...deposit.metadata, ...Object.fromEntries(texts) }
      const event = kit.event('deposit.succeeded', { ...paid(deposit), metadata, customerLabel: 'Zoë' })
      const message = kit.sign(event, { body: JSON.stringify(event, null, 2) })
      return checkBalanceChange(kit, { change: AMOUNT_MINOR }, async () =>
        mustAccept(await kit.handlerClient.send(message)),
      )
    },
  },
  {
    name: 'many-at-once',
    title: `${AT_ONCE} deposits at once are all accepted in time`,
    document: DELIVERY,
    async run(kit) {
      const events = await Promise.all(Array.from({ length: AT_ONCE }, () => paidEvent(kit)))
      return checkBalanceChange(kit, { change: AT_ONCE * AMOUNT_MINOR }, async () => {
        const replies = await Promise.all(events.map(kit.deliver))
        const refused = replies.filter((reply) => !isAccepted(reply))
        return refused[0] && `${refused.length} of ${AT_ONCE} were not accepted: ${describeReply(refused[0])}`
      })
    },
  },
  {
    name: 'slow-callers',
    title: `${SLOW_CALLERS} callers who never finish hold up no event`,
    document: DELIVERY,
    async run(kit) {
      const event = await paidEvent(kit)
      const endCalls = await kit.handlerClient.openUnfinishedCalls(SLOW_CALLERS)
      try {
        return await checkBalanceChange(kit, { change: AMOUNT_MINOR }, async () =>
          mustAccept(await kit.deliver(event)),
        )
      } finally {
        endCalls()
      }
    },
  },
  {
    name: 'event-log',
    title: 'an event that no webhook delivered is read from the event log',
    document: 'webhooks.md#events-and-webhooks',
    run: readsTheLog,
  },
]

async function readsTheLog(kit: Kit): Promise<Verdict> {
  const { till, balance, patience } = kit
  if (till === undefined) return incomplete('with --till the store can read the event log of this command')
  const before = await balance?.('USD')
  // A reader that fails on an event without a deposit stops here.
  kit.newEpoch()
  const event = await paidEvent(kit)
  const changeOf = async () => ((await balance?.('USD')) ?? 0) - (before ?? 0)
  kit.publish()
  await until(async () => till.servedUpTo() >= event.sequence, patience.reconcileMs)
  if (till.reads() === 0) {
    return incomplete(`nothing read ${till.url}/v1/events: start the store with that address as its till`)
  }
  if (balance === undefined) return incomplete('only with --balance can the credit be checked')
  await until(async () => (await changeOf()) === AMOUNT_MINOR, patience.settleMs)
  // The log also contains the events that webhooks delivered. The store must not credit them again.
  await pause(patience.quietMs)
  const change = await changeOf()
  return change === AMOUNT_MINOR
    ? PASSED
    : failed(`the balance must change by ${AMOUNT_MINOR}, and changed by ${change}`)
}
