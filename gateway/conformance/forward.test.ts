import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../kit/clock.ts'
import { startReceiver } from '../testing/receiver.ts'
import { json, startSourceServer } from '../testing/source-server.ts'
import { SECRET } from '../testing/webhooks.ts'
import { forwardEvents } from './forward.ts'

test('events of a newer till are forwarded as it sent them, with their new types, fields and values', async () => {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const envelope = { timestamp: '2027-01-01T00:00:00.000Z' }
  const log = [
    { ...envelope, id: 'e1', sequence: 1, type: 'deposit.merged', data: { id: '7', status: 'merged' } },
    { ...envelope, id: 'e2', sequence: 2, type: 'store.renamed', data: { name: 'Ember' }, cause: 'operator' },
  ]
  const till = await startSourceServer()
  onTestFinished(async () => void (await till.close()))
  till.answer('/v1/events', json({ events: log, next: log.length, hasMore: false }))
  const forwarded = await forwardEvents(
    { clock: systemClock, wait: async () => {}, onTry: () => {} },
    {
      till: new URL(till.url),
      apiKey: 'tt_test_1',
      to: new URL(receiver.url),
      secret: SECRET,
      after: 0,
      once: true,
    },
  )
  expect(forwarded).toEqual({ kind: 'ended', sequence: 2, sent: 2 })
  expect(receiver.received.map(({ body }) => JSON.parse(body))).toEqual(log)
})
