import { createSocket } from 'node:dgram'
import dns, { type ResolverOptions } from 'node:dns'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Receiver, startReceiver } from '../testing/receiver.ts'
import { ANY_ALLOWED, NONE_ALLOWED } from '../testing/webhooks.ts'
import { createResolve, type Resolve } from './resolve.ts'
import { createSender } from './sender.ts'
import type { FindAllowance } from './url.ts'

const TYPE_A = 1
const TYPE_AAAA = 28
const LOOPBACK_6 = Buffer.from([...Array(15).fill(0), 1])

let receiver: Receiver
let dnsServers: string[]
let resolve: Resolve
let queries: string[]
/** Functions that send the IPv6 address of late.test, which the DNS server leaves to the test. */
let late: (() => void)[]
let stop: () => void

beforeEach(async () => {
  receiver = await startReceiver()
  queries = []
  late = []
  // This DNS server answers the questions below, and never any other. both.test has a public and a private address.
  const server = createSocket('udp4', (query, from) => {
    const { name, type, end } = questionOf(query)
    queries.push(name)
    const answers: Record<string, Buffer[]> = {
      [`shop.test ${TYPE_A}`]: [Buffer.from([127, 0, 0, 1])],
      [`shop.test ${TYPE_AAAA}`]: [],
      [`both.test ${TYPE_A}`]: [Buffer.from([93, 184, 216, 34]), Buffer.from([10, 0, 0, 1])],
      [`both.test ${TYPE_AAAA}`]: [],
      [`none.test ${TYPE_A}`]: [],
      [`none.test ${TYPE_AAAA}`]: [],
      // Each of these two names gets an answer for one family only.
      [`four.test ${TYPE_A}`]: [Buffer.from([127, 0, 0, 1])],
      [`six.test ${TYPE_AAAA}`]: [LOOPBACK_6],
      [`late.test ${TYPE_A}`]: [Buffer.from([127, 0, 0, 1])],
      [`late.test ${TYPE_AAAA}`]: [LOOPBACK_6],
    }
    const records = answers[`${name} ${type}`]
    const answer = (): void => {
      if (records !== undefined)
        server.send(answerTo(query.subarray(0, end), records), from.port, from.address)
    }
    if (name === 'late.test' && type === TYPE_AAAA) late.push(answer)
    else answer()
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  stop = () => server.close()
  dnsServers = [`127.0.0.1:${server.address().port}`]
  resolve = createResolve({ servers: dnsServers })
})
afterEach(async () => {
  vi.useRealTimers()
  stop()
  await receiver.close()
})

/** Returns the only question of a DNS message, which follows a header of 12 bytes (RFC 1035, 4.1). */
function questionOf(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

function answerTo(question: Buffer, addresses: Buffer[]): Buffer {
  const head = Buffer.from(question)
  // A response without an error, the number of answers, and no other records.
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  // The question's name, its type, class IN, time to live 0.
  const recordOf = ({ length }: Buffer) =>
    Buffer.from([0xc0, 12, 0, length === 4 ? TYPE_A : TYPE_AAAA, 0, 1, 0, 0, 0, 0, 0, length])
  return Buffer.concat([head, ...addresses.flatMap((address) => [recordOf(address), address])])
}

const addressesOf = (name: string): Promise<string[]> =>
  new Promise((fulfil, reject) =>
    resolve(name, { all: true }, (error, addresses) =>
      error === null ? fulfil(addresses.map(({ address }) => address)) : reject(error),
    ),
  )

/** Fakes the timers, so the wait of one family for the other ends only when the test advances time. */
const stopTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })

const request = (url: string) => ({ storeId: 1n, url, headers: {}, body: '{}' })

const NOT_PUBLIC = { reason: expect.stringContaining('the address is not public') }

describe('the look-up by DNS', () => {
  it('resolves a name immediately, even though the servers of forty other names never answer', async () => {
    const send = createSender({ mode: 'sandbox', findAllowance: ANY_ALLOWED, deadlineMs: 60_000, resolve })
    const ending = new AbortController()
    const silent = Array.from({ length: 40 }, (_, n) =>
      send({ ...request(`http://silent-${n}.test/`), signal: ending.signal }),
    )
    await expect.poll(() => new Set(queries).size).toBe(40)
    expect(await send(request(`http://shop.test:${receiver.port}/`))).toMatchObject({ status: 204 })
    ending.abort()
    await Promise.all(silent)
  })

  it.each([
    ['four.test', '127.0.0.1'],
    ['six.test', '::1'],
  ])(
    'resolves %s after 300 ms, even though no server answers for the other family',
    async (name, address) => {
      stopTime()
      const onFound = vi.fn()
      const finding = addressesOf(name).then(onFound)
      // Not `expect.poll`, which advances fake time.
      while (vi.getTimerCount() === 0) await nextTurn()
      await vi.advanceTimersByTimeAsync(299)
      expect(onFound).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(1)
      await finding
      expect(onFound).toHaveBeenCalledWith([address])
    },
  )

  it('resolves late.test to both families of addresses if one takes a moment longer', async () => {
    stopTime()
    const lookup = addressesOf('late.test')
    while (late.length === 0) await nextTurn()
    // Once these are answered, the IPv4 addresses of late.test are known.
    for (let n = 0; n < 5; n += 1) await addressesOf('shop.test')
    for (const answer of late) answer()
    expect(await lookup).toEqual(['127.0.0.1', '::1'])
  })

  it.each([
    ['http://both.test/', 'the address is not public'],
    ['http://none.test/', 'ENODATA'],
  ])('makes the webhook to %s fail: %s', async (url, reason) => {
    const send = createSender({ mode: 'sandbox', findAllowance: ANY_ALLOWED, deadlineMs: 60_000, resolve })
    expect(await send(request(url))).toEqual({ kind: 'failed', reason: expect.stringContaining(reason) })
  })

  it('asks the DNS servers that the system has now, although they have changed since the start', async () => {
    // Nothing listens on port 9.
    let ofSystem = ['127.0.0.1:9']
    const { Resolver } = dns
    // Like the real one, reads the system's servers when it is made, and never again.
    class OfSystem extends Resolver {
      constructor(options?: ResolverOptions) {
        super(options)
        this.setServers(ofSystem)
      }
    }
    dns.Resolver = OfSystem
    onTestFinished(() => {
      dns.Resolver = Resolver
    })
    resolve = createResolve()
    await expect(addressesOf('shop.test')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    ofSystem = dnsServers
    expect(await addressesOf('shop.test')).toEqual(['127.0.0.1'])
  })

  it('resolves localhost to this machine, without a query', async () => {
    const send = createSender({ mode: 'live', findAllowance: NONE_ALLOWED, deadlineMs: 60_000, resolve })
    for (const name of ['localhost', 'shop.localhost', 'LOCALHOST.'])
      expect(await send(request(`https://${name}/`))).toMatchObject(NOT_PUBLIC)
    expect(queries).toEqual([])
  })
})

describe('by default', () => {
  it('live mode asks DNS', async () => {
    const send = createSender({ mode: 'live', findAllowance: NONE_ALLOWED, deadlineMs: 60_000, dnsServers })
    // Only this DNS server resolves the name to this machine.
    expect(await send(request('https://shop.test/'))).toMatchObject(NOT_PUBLIC)
    // One query for each IP family.
    expect(queries).toEqual(['shop.test', 'shop.test'])
  })

  it('live mode asks the system about a name that the operator lets lead inside, such as one of its hosts file', async () => {
    const findAllowance: FindAllowance = async () => ({ inside: true })
    const send = createSender({ mode: 'live', findAllowance, deadlineMs: 30_000, dnsServers })
    const result = await send(request(`http://${hostname()}:${receiver.port}/`))
    // The name may lead to another address of this machine, where nobody listens, or to a public one.
    const ends = [204, 'ECONNREFUSED', 'plain http must stay inside the network']
    expect(ends).toContain(result.kind === 'answered' ? result.status : result.reason)
    expect(queries).toEqual([])
  })

  it('the sandbox asks the system, which resolves this machine’s names without DNS', async () => {
    const send = createSender({ mode: 'sandbox', findAllowance: ANY_ALLOWED, deadlineMs: 30_000, dnsServers })
    const result = await send(request(`http://${hostname()}:${receiver.port}/`))
    // The name may lead to another address of this machine, where nobody listens.
    expect([204, 'ECONNREFUSED']).toContain(result.kind === 'answered' ? result.status : result.reason)
    expect(queries).toEqual([])
  })
})
