import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../kit/clock.ts'
import { startReceiver } from '../testing/receiver.ts'
import { SECRET } from '../testing/webhooks.ts'
import { forwardEvents } from './forward.ts'

/** Starts a till whose log has these events. */
async function tillWithLog(events: object[]): Promise<URL> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ events, next: events.length, hasMore: false }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())))
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

test('events of a newer till are forwarded as it sent them, with their new types, fields and values', async () => {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const envelope = { timestamp: '2027-01-01T00:00:00.000Z' }
  const log = [
    { ...envelope, id: 'e1', sequence: 1, type: 'deposit.merged', data: { id: '7', status: 'merged' } },
    { ...envelope, id: 'e2', sequence: 2, type: 'store.renamed', data: { name: 'Ember' }, cause: 'operator' },
  ]
  const forwarded = await forwardEvents(
    { clock: systemClock, wait: async () => {}, onTry: () => {} },
    {
      till: await tillWithLog(log),
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
