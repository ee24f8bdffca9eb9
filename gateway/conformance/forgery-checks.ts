import { randomBytes } from 'node:crypto'
import { repeatsChallenge } from '../webhooks/challenge-answer.ts'
import type { Check } from './check.ts'
import type { Message } from './handler-client.ts'
import { AMOUNT_MINOR, withChange } from './invented.ts'
import { checkBalanceChange, type Kit, mustAccept, mustRefuse } from './kit.ts'

const VERIFY = 'webhooks.md#verify'
/** A minute more than a signed time may be off. */
const OFF_BY_MS = 6 * 60_000

const anotherSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`

/** A success that no till wrote: a handler that takes it as genuine credits money. */
const forgedSuccess = async (kit: Kit) =>
  kit.unwrittenEvent(
    'deposit.succeeded',
    withChange(await kit.newDeposit(), { status: 'succeeded', amount: AMOUNT_MINOR }),
  )

/** A check that the handler refuses all messages that `make` returns, and credits nothing. */
const refusesAll = (make: (kit: Kit, event: Awaited<ReturnType<typeof forgedSuccess>>) => Message[]) => {
  return async (kit: Kit) => {
    const messages = make(kit, await forgedSuccess(kit))
    return checkBalanceChange(kit, { change: 0 }, async () => {
      for (const message of messages) {
        const complaint = mustRefuse(await kit.handlerClient.send(message))
        if (complaint !== undefined) return complaint
      }
      return undefined
    })
  }
}

export const FORGERY_CHECKS: readonly Check[] = [
  {
    name: 'wrong-signature',
    title: 'a signature made with another secret is refused',
    document: VERIFY,
    run: refusesAll((kit, event) => [kit.sign(event, { secrets: [anotherSecret()] })]),
  },
  {
    name: 'no-signature',
    title: 'a call without the headers of webhooks, or without its signature or time, is refused',
    document: VERIFY,
    run: refusesAll((kit, event) => {
      const { headers, body } = kit.sign(event)
      const { 'webhook-signature': _, ...unsigned } = headers
      const { 'webhook-timestamp': __, ...withoutTime } = headers
      return [
        { headers: {}, body },
        { headers: unsigned, body },
        { headers: withoutTime, body },
      ]
    }),
  },
  {
    name: 'changed-body',
    title: 'a body that was changed by one byte is refused',
    document: VERIFY,
    run: refusesAll((kit, event) => {
      const { headers, body } = kit.sign(event)
      // One digit changes: 1000 becomes 9000.
      return [{ headers, body: body.replace(`"amount":${AMOUNT_MINOR}`, `"amount":${AMOUNT_MINOR + 8_000}`) }]
    }),
  },
  {
    name: 'wrong-time',
    title: 'a call whose signed time is six minutes in the past or future is refused',
    document: VERIFY,
    run: refusesAll((kit, event) => {
      const now = kit.clock.now().getTime()
      return [-OFF_BY_MS, OFF_BY_MS].map((offMs) => kit.sign(event, { at: new Date(now + offMs) }))
    }),
  },
  {
    name: 'two-secrets',
    title: 'one valid signature of two is enough, as when the secret is being replaced',
    document: 'webhooks.md#endpoints',
    async run(kit) {
      const deposit = withChange(await kit.newDeposit(), { status: 'succeeded', amount: AMOUNT_MINOR })
      const event = kit.event('deposit.succeeded', deposit)
      const message = kit.sign(event, { secrets: [anotherSecret(), kit.secret] })
      return checkBalanceChange(kit, { change: AMOUNT_MINOR }, async () =>
        mustAccept(await kit.handlerClient.send(message)),
      )
    },
  },
  {
    name: 'challenge',
    title: 'a test of the address is answered with its challenge',
    document: 'webhooks.md#endpoints',
    async run(kit) {
      const challenge = randomBytes(24).toString('base64url')
      const event = {
        id: crypto.randomUUID(),
        type: 'webhook.test',
        timestamp: kit.clock.now().toISOString(),
        data: { endpointId: '1', challenge },
      }
      return checkBalanceChange(kit, { change: 0 }, async () => {
        const reply = await kit.handlerClient.send(kit.sign(event))
        const complaint = mustAccept(reply)
        if (complaint !== undefined) return complaint
        return repeatsChallenge(reply.kind === 'answered' ? reply.text : '', challenge)
          ? undefined
          : 'the answer must be the value of data.challenge, alone or as the JSON field challenge, in at most 1 KB'
      })
    },
  },
]
