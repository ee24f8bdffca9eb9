import http from 'node:http'
import { isIP } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { ANY_ALLOWED, NONE_ALLOWED } from '../testing/webhooks.ts'
import type { Resolve } from './resolve.ts'
import { createSender } from './sender.ts'
import { addressOf, type FindAllowance, parseAddress } from './url.ts'

let receiver: Receiver

beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(() => receiver.close())

const request = (url: string) => ({ storeId: 1n, url, headers: { 'webhook-id': 'e1' }, body: '{"n":1}' })

describe('a webhook', () => {
  const send = createSender({ mode: 'sandbox', findAllowance: ANY_ALLOWED, deadlineMs: 60_000 })

  it('is posted as JSON with its headers, and the status of the answer is returned', async () => {
    expect(await send(request(receiver.url))).toMatchObject({ kind: 'answered', status: 204 })
    expect(receiver.received[0]).toMatchObject({
      body: '{"n":1}',
      headers: { 'webhook-id': 'e1', 'content-type': 'application/json' },
    })
  })

  it('does not follow redirects', async () => {
    receiver.answers.push(status(307, { location: receiver.url }))
    expect(await send(request(receiver.url))).toMatchObject({ kind: 'answered', status: 307 })
    expect(receiver.received).toHaveLength(1)
  })

  it('is aborted at its deadline, even if the store’s headers never end', async () => {
    receiver.answers.push((response) => void response.socket?.write('HTTP/1.1 200 OK\r\nx-slow: '))
    const hasty = createSender({ mode: 'sandbox', findAllowance: ANY_ALLOWED, deadlineMs: 300 })
    expect(await hasty(request(receiver.url))).toEqual({ kind: 'failed', reason: 'no answer in time' })
  })

  it('has the status of an answer whose body is cut off by the end of the gateway', async () => {
    receiver.answers.push((response) => void response.writeHead(200).write('{'))
    const stopping = new AbortController()
    const { request: begin } = http
    const begun = vi
      .spyOn(http, 'request')
      .mockImplementationOnce((...args: Parameters<typeof begin>) =>
        begin(...args).on('response', () => setImmediate(() => stopping.abort())),
      )
    const result = await send({ ...request(receiver.url), signal: stopping.signal })
    begun.mockRestore()
    expect(result).toMatchObject({ kind: 'answered', status: 200 })
  })

  it('ends with the status of an answer that switches to another protocol, and closes the connection', async () => {
    const closed = Promise.withResolvers<void>()
    receiver.answers.push(({ socket }) => {
      socket?.on('close', () => closed.resolve())
      socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: chat\r\n\r\n')
    })
    expect(await send(request(receiver.url))).toEqual({ kind: 'answered', status: 101, text: '' })
    await closed.promise
  })

  it('takes only the beginning of an endless answer, and then closes the connection', async () => {
    let sent = 0
    const closed = Promise.withResolvers<void>()
    receiver.answers.push((response) => {
      const sendMore = (): void => {
        sent += 16_384
        if (!response.destroyed) response.write('x'.repeat(16_384), sendMore)
      }
      response.on('close', () => closed.resolve())
      response.writeHead(200)
      sendMore()
    })
    expect(await send(request(receiver.url))).toMatchObject({ kind: 'answered', status: 200 })
    await closed.promise
    // The buffers of the sockets take far less.
    expect(sent).toBeLessThan(50_000_000)
  })

  it('fails with the reason if nothing listens', async () => {
    await receiver.close()
    expect(await send(request(receiver.url))).toEqual({ kind: 'failed', reason: 'ECONNREFUSED' })
    receiver = await startReceiver()
  })
})

describe('in live mode', () => {
  const send = createSender({ mode: 'live', findAllowance: NONE_ALLOWED, deadlineMs: 60_000 })

  it.each<[string, (port: number) => string, string]>([
    ['plain http', () => 'http://store.example/hooks', 'the address must be https'],
    ['this machine by its IP address', (port) => `https://127.0.0.1:${port}/`, 'the address is not public'],
    [
      'this machine by its address in hexadecimal',
      (port) => `https://0x7f.1:${port}/`,
      'the address is not public',
    ],
    ['this machine in IPv6', (port) => `https://[::1]:${port}/`, 'the address is not public'],
    ['IPv4 written in IPv6', (port) => `https://[::ffff:127.0.0.1]:${port}/`, 'the address is not public'],
    ['this machine by name', () => 'https://localhost/', 'the address is not public'],
    ['the cloud’s metadata', () => 'https://169.254.169.254/latest', 'the address is not public'],
    ['a text that is not a URL', () => 'store', 'the address is not a URL'],
    ['the port of SSH', () => 'https://store.example:22/', 'the port must be 443'],
    ['the port of a cache', () => 'https://93.184.216.34:6379/', 'the port must be 443'],
    [
      'a name with a command for a shell',
      () => 'https://a$(reboot).example/',
      'characters that are not allowed',
    ],
  ])('no webhook is sent to %s', async (_name, urlOf, reason) => {
    const failed = { kind: 'failed', reason: expect.stringContaining(reason) }
    expect(await send(request(urlOf(receiver.port)))).toEqual(failed)
    expect(receiver.received).toEqual([])
  })

  it('the refusal of a name that contains a shell command suggests no `store allow-address`', async () => {
    const reason = 'the host name has characters that are not allowed'
    expect(await send(request('https://a$(reboot).example/'))).toEqual({ kind: 'failed', reason })
  })
})

it.each([
  [
    'a name',
    'store.example',
    '; to allow plain http inside your network: store allow-address --store 1 --address store.example:80 --inside',
  ],
  ['a public address', '93.184.216.34', ''],
  ['an address that no rule allows', '169.254.1.1', ''],
])(
  'in live mode the refusal of plain http to %s suggests a command only if one would help',
  async (_what, host, advice) => {
    const send = createSender({ mode: 'live', findAllowance: NONE_ALLOWED, deadlineMs: 60_000 })
    const reason = `the address must be https${advice}`
    expect(await send(request(`http://${host}/`))).toEqual({ kind: 'failed', reason })
  },
)

it('the refusal of an address that no rule allows names no command', async () => {
  const send = createSender({ mode: 'live', findAllowance: NONE_ALLOWED, deadlineMs: 60_000 })
  const reason = 'the address is not public'
  expect(await send(request('https://169.254.1.1/'))).toEqual({ kind: 'failed', reason })
})

const REFUSED = { kind: 'failed', reason: expect.stringContaining('the address is not public') }

it('the sandbox sends to allowed names of this machine, and not into the network', async () => {
  const send = createSender({ mode: 'sandbox', findAllowance: ANY_ALLOWED, deadlineMs: 60_000 })
  expect(await send(request(`http://localhost:${receiver.port}/`))).toMatchObject({ status: 204 })
  expect(await send(request('http://10.0.0.1/'))).toMatchObject(REFUSED)
})

describe('an address that the operator allowed for a store', () => {
  /** Allows the address for store 1 only. */
  const allowing =
    (host: string, inside: boolean): FindAllowance =>
    async (storeId, address) =>
      storeId === 1n && address.host === host && address.port === receiver.port ? { inside } : undefined
  const toReceiver: Resolve = (_hostname, _options, callback) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }])
  const senderWith = (mode: 'sandbox' | 'live', findAllowance: FindAllowance) =>
    createSender({ mode, findAllowance, deadlineMs: 60_000, resolve: toReceiver })

  it.each(['sandbox', 'live'] as const)(
    'receives only that store’s webhooks in %s mode, over plain http inside the network',
    async (mode) => {
      const send = senderWith(mode, allowing('shop.internal', true))
      const url = `http://shop.internal:${receiver.port}/`
      expect(await send(request(url))).toMatchObject({ status: 204 })
      expect(await send({ ...request(url), storeId: 2n })).toMatchObject({ kind: 'failed' })
      expect(receiver.received).toHaveLength(1)
    },
  )

  it('is not allowed at another port', async () => {
    const send = senderWith('sandbox', allowing('shop.internal', true))
    expect(await send(request('http://shop.internal:6379/'))).toEqual({
      kind: 'failed',
      reason:
        'the operator has not allowed the address; to allow it: store allow-address --store 1 --address shop.internal:6379',
    })
  })

  it('is refused inside the network unless the operator allowed that too', async () => {
    const send = senderWith('live', allowing('shop.internal', false))
    const port = receiver.port
    expect(await send(request(`https://shop.internal:${port}/`))).toEqual({
      kind: 'failed',
      reason: `the address is not public; to allow it: store allow-address --store 1 --address shop.internal:${port} --inside`,
    })
    expect(receiver.received).toEqual([])
  })

  it.each([
    ['a public host', '93.184.216.34'],
    ['the cloud’s metadata', '169.254.169.254'],
    ['IPv4 mapped into IPv6', '::ffff:127.0.0.1'],
    ['the unspecified address', '0.0.0.0'],
  ])('gets no webhook over plain http if it leads to %s', async (_what, address) => {
    const resolve: Resolve = (_hostname, _options, callback) =>
      callback(null, [{ address, family: isIP(address) }])
    const findAllowance: FindAllowance = async () => ({ inside: true })
    const send = createSender({ mode: 'live', findAllowance, deadlineMs: 60_000, resolve })
    const reason = 'plain http must stay inside the network'
    for (const host of ['shop.internal', isIP(address) === 6 ? `[${address}]` : address])
      expect(await send(request(`http://${host}:${receiver.port}/`))).toEqual({ kind: 'failed', reason })
  })
})

it('the sandbox refuses to send to addresses without the operator’s permission', async () => {
  const send = createSender({ mode: 'sandbox', findAllowance: NONE_ALLOWED, deadlineMs: 60_000 })
  for (const url of [receiver.url, `http://localhost:${receiver.port}/`, 'https://store.example/']) {
    expect(await send(request(url))).toMatchObject({ kind: 'failed' })
  }
  expect(receiver.received).toEqual([])
})

it.each([
  ['localhost:4302', { host: 'localhost', port: 4302 }],
  ['SHOP.example:443', { host: 'shop.example', port: 443 }],
  ['[::1]:8080', { host: '::1', port: 8080 }],
  ['0x7f.1:80', { host: '127.0.0.1', port: 80 }],
  ['shop.example', undefined],
  ['shop.example:0', undefined],
  ['shop.example:70000', undefined],
  ['user@shop.example:80', undefined],
  ['http://shop.example:80', undefined],
])('%s is parsed into its host and port, or refused', (typed, address) => {
  expect(parseAddress(typed)).toEqual(address)
})

it('URLs are compared by host and port, in any spelling', () => {
  const urls = ['https://Shop.Example./a', 'https://shop.example:443/b?c'].map((text) => new URL(text))
  for (const url of urls) expect(addressOf(url)).toEqual({ host: 'shop.example', port: 443 })
})

describe('a name', () => {
  const PUBLIC = '93.184.216.34'

  /** A resolver that gives these answers in order, then repeats the last one. */
  function resolver(...answers: string[][]) {
    const names: string[] = []
    const resolve: Resolve = (hostname, options, callback) => {
      expect(options.all).toBe(true)
      const answer = answers[Math.min(names.length, answers.length - 1)] ?? []
      names.push(hostname)
      callback(
        null,
        answer.map((address) => ({ address, family: isIP(address) })),
      )
    }
    return { names, resolve }
  }

  it.each<[string, string[]]>([
    ['a private address after a public one', [PUBLIC, '10.0.0.1']],
    ['a private address before a public one', ['192.168.1.1', PUBLIC]],
    ['this machine among many public addresses', [PUBLIC, '1.1.1.1', '2606:4700:4700::1111', '127.0.0.1']],
    ['the cloud’s metadata', ['169.254.169.254']],
    ['this machine in IPv6 and a public IPv4 address', [PUBLIC, '::1']],
    ['IPv4 mapped into IPv6', [PUBLIC, '::ffff:127.0.0.1']],
    ['IPv4 mapped into IPv6, in hexadecimal', ['::ffff:7f00:1']],
    ['IPv4 tunnelled by 6to4', [PUBLIC, '2002:7f00:1::']],
    ['IPv4 tunnelled by Teredo', ['2001:0:7f00:1::']],
    ['IPv4 translated by NAT64', ['64:ff9b::7f00:1', PUBLIC]],
    ['a link-local address', ['fe80::1']],
    ['no address', []],
  ])('that resolves to %s is not connected to', async (_what, addresses) => {
    const { names, resolve } = resolver(addresses)
    const send = createSender({ mode: 'live', findAllowance: ANY_ALLOWED, deadlineMs: 60_000, resolve })
    expect(await send(request(`https://store.example:${receiver.port}/`))).toEqual(REFUSED)
    expect(names).toEqual(['store.example'])
    expect(receiver.received).toEqual([])
  })

  it('leads to the checked address, without another look-up', async () => {
    // The receiver listens only at the first address: after a second look-up, it would get nothing.
    const { names, resolve } = resolver(['127.0.0.1'], ['127.0.0.2'])
    const send = createSender({ mode: 'sandbox', findAllowance: ANY_ALLOWED, deadlineMs: 60_000, resolve })
    expect(await send(request(`http://store.example:${receiver.port}/`))).toMatchObject({ status: 204 })
    expect(names).toEqual(['store.example'])
  })

  it('that becomes private after the check does not lead to the private address', async () => {
    // A public address that belongs to no network.
    const { names, resolve } = resolver(['2000::1'], ['127.0.0.1'])
    const send = createSender({ mode: 'sandbox', findAllowance: ANY_ALLOWED, deadlineMs: 300, resolve })
    const hooks = `http://store.example:${receiver.port}/`
    // The local network may answer for the public address in any way, but not as the receiver would.
    expect(await send(request(hooks))).toMatchObject({ kind: 'failed' })
    expect(names).toEqual(['store.example'])
    expect(receiver.received).toEqual([])
    const live = createSender({ mode: 'live', findAllowance: ANY_ALLOWED, deadlineMs: 60_000, resolve })
    expect(await live(request(`https://store.example:${receiver.port}/`))).toEqual(REFUSED)
  })

  it('is looked up again for every call, and a redirect cannot bypass the check', async () => {
    const { names, resolve } = resolver(['127.0.0.1'], ['10.0.0.1'])
    const send = createSender({ mode: 'sandbox', findAllowance: ANY_ALLOWED, deadlineMs: 60_000, resolve })
    const hooks = `http://store.example:${receiver.port}/`
    receiver.answers.push(status(307, { location: hooks }))
    expect(await send(request(hooks))).toMatchObject({ status: 307 })
    expect(await send(request(hooks))).toEqual(REFUSED)
    expect(names).toHaveLength(2)
    expect(receiver.received).toHaveLength(1)
  })

  it('that cannot be resolved fails the attempt', async () => {
    const resolve: Resolve = (_hostname, _options, callback) => {
      callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), [])
    }
    const send = createSender({ mode: 'live', findAllowance: NONE_ALLOWED, deadlineMs: 60_000, resolve })
    expect(await send(request('https://store.example/'))).toEqual({ kind: 'failed', reason: 'ENOTFOUND' })
  })
})
