import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { createSender } from './sender.ts'

let receiver: Receiver

beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(() => receiver.close())

const request = (url: string) => ({ url, headers: { 'webhook-id': 'e1' }, body: '{"n":1}' })

describe('a webhook', () => {
  const send = createSender({ mode: 'sandbox', deadlineMs: 300 })

  it('is posted as JSON with its headers, and the status is the answer', async () => {
    expect(await send(request(receiver.url))).toMatchObject({ kind: 'answered', status: 204 })
    expect(receiver.received[0]).toMatchObject({
      body: '{"n":1}',
      headers: { 'webhook-id': 'e1', 'content-type': 'application/json' },
    })
  })

  it('follows no redirect', async () => {
    receiver.answers.push(status(307, { location: receiver.url }))
    expect(await send(request(receiver.url))).toMatchObject({ kind: 'answered', status: 307 })
    expect(receiver.received).toHaveLength(1)
  })

  it('is given up at its deadline, also by a store that never ends its head', async () => {
    receiver.answers.push((response) => void response.socket?.write('HTTP/1.1 200 OK\r\nx-slow: '))
    expect(await send(request(receiver.url))).toEqual({ kind: 'failed', reason: 'no answer in time' })
  })

  it('reads no more than the beginning of an endless answer', async () => {
    let sent = 0
    const closed = Promise.withResolvers<void>()
    receiver.answers.push((response) => {
      const more = (): void => {
        sent += 16_384
        if (!response.destroyed) response.write('x'.repeat(16_384), more)
      }
      response.on('close', () => closed.resolve())
      response.writeHead(200)
      more()
    })
    expect(await send(request(receiver.url))).toMatchObject({ kind: 'answered', status: 200 })
    await closed.promise
    expect(sent).toBeLessThan(50_000_000)
  })

  it('says why where nobody listens', async () => {
    await receiver.close()
    expect(await send(request(receiver.url))).toEqual({ kind: 'failed', reason: 'ECONNREFUSED' })
    receiver = await startReceiver()
  })
})

describe('in live mode', () => {
  const send = createSender({ mode: 'live', deadlineMs: 1_000 })

  it.each<[string, (port: number) => string, string]>([
    ['plain http', () => 'http://store.example/hooks', 'the address must be https'],
    ['this machine by number', (port) => `https://127.0.0.1:${port}/`, 'the address is not public'],
    ['this machine in other figures', (port) => `https://0x7f.1:${port}/`, 'the address is not public'],
    ['this machine in IPv6', (port) => `https://[::1]:${port}/`, 'the address is not public'],
    ['IPv4 written in IPv6', (port) => `https://[::ffff:127.0.0.1]:${port}/`, 'the address is not public'],
    ['this machine by name', (port) => `https://localhost:${port}/`, 'the address is not public'],
    ['the cloud’s metadata', () => 'https://169.254.169.254/latest', 'the address is not public'],
    ['no address at all', () => 'store', 'the address is not a URL'],
  ])('%s is not sent to', async (_name, urlOf, reason) => {
    expect(await send(request(urlOf(receiver.port)))).toEqual({ kind: 'failed', reason })
    expect(receiver.received).toEqual([])
  })
})

it('the sandbox sends to this machine, but not into the network it is in', async () => {
  const send = createSender({ mode: 'sandbox', deadlineMs: 1_000 })
  expect(await send(request(`http://localhost:${receiver.port}/`))).toMatchObject({ status: 204 })
  expect(await send(request('http://10.0.0.1/'))).toMatchObject({ reason: 'the address is not public' })
})
