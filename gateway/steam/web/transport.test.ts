import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSandboxAgent } from './agent.ts'
import { createTransport, type Transport } from './transport.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

let answer: Answer
let hosts: string[]
let transport: Transport
const server = createServer((request, response) => {
  hosts.push(request.headers.host ?? '')
  answer(response, request)
})

beforeEach(async () => {
  hosts = []
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  transport = createTransport(createSandboxAgent('sandbox', `http://127.0.0.1:${port}`))
})

afterEach(async () => {
  vi.useRealTimers()
  transport.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function get(uri: string, ms = 60_000) {
  return transport.run(ms, (done) => transport.request({ uri, json: true, followRedirect: false }, done))
}

describe('the transport', () => {
  it('reaches the sandbox under Steam’s host names', async () => {
    answer = (response) => response.setHeader('x-eresult', '15').end('{"a":1}')
    expect(await get('https://api.steampowered.com/IEconService/')).toEqual({
      kind: 'reply',
      status: 200,
      eresult: 15,
      body: { a: 1 },
    })
    expect(hosts).toEqual(['api.steampowered.com'])
  })

  it('returns a redirect to a caller that asked not to follow it', async () => {
    answer = (response) => response.writeHead(302, { location: 'https://steamcommunity.com/login/' }).end()
    expect(await get('https://steamcommunity.com/')).toMatchObject({ kind: 'reply', status: 302 })
  })

  it('ends a request that takes too long, even if bytes keep coming', async () => {
    const firstResponse = Promise.withResolvers<ServerResponse>()
    answer = (response) => {
      response.writeHead(200).write('[')
      firstResponse.resolve(response)
    }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const onEnd = vi.fn()
    const result = get('https://steamcommunity.com/', 80).then(onEnd)
    const response = await firstResponse.promise
    vi.advanceTimersByTime(79)
    await new Promise((written) => response.write('1,', written))
    expect(onEnd).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    await result
    expect(onEnd).toHaveBeenCalledWith({ kind: 'failed', code: 'DEADLINE' })
  })

  it('ends a request made outside of `run` immediately, because it has no deadline', async () => {
    answer = () => {}
    const { promise, resolve } = Promise.withResolvers<unknown>()
    transport.request({ uri: 'https://steamcommunity.com/' }, (error) => resolve(error))
    expect(await promise).toMatchObject({ code: 'NO_DEADLINE' })
  })

  it('reports a lost connection by its code', async () => {
    answer = (response) => response.socket?.destroy()
    expect(await get('https://steamcommunity.com/')).toEqual({ kind: 'failed', code: 'ECONNRESET' })
  })

  it('reports a refused connection by its code', async () => {
    // Nothing listens on port 1.
    const nobody = createTransport(createSandboxAgent('sandbox', 'http://127.0.0.1:1'))
    const result = await nobody.run(60_000, (done) =>
      nobody.request({ uri: 'https://steamcommunity.com/' }, done),
    )
    expect(result).toEqual({ kind: 'failed', code: 'ECONNREFUSED' })
  })

  it('stops reading an answer that does not end', async () => {
    const piece = Buffer.alloc(4 * 1024 * 1024, ' ')
    answer = (response) => {
      const more = () => {
        while (!response.destroyed && response.write(piece)) {}
      }
      response.on('drain', more)
      more()
    }
    expect(await get('https://steamcommunity.com/')).toEqual({ kind: 'failed', code: 'TOO_LARGE' })
  })

  it('survives a library that throws when it reads an answer', async () => {
    answer = (response) => response.end('{"items":[{}]}')
    let calls = 0
    const result = await transport.run(60_000, (done) =>
      transport.request({ uri: 'https://steamcommunity.com/', json: true }, () => {
        calls += 1
        if (calls === 1) throw new TypeError('item.classid is undefined')
        done()
      }),
    )
    expect(result).toEqual({ kind: 'failed', code: 'UNREADABLE' })
  })

  it('survives a library that throws at every answer', async () => {
    answer = (response) => response.end('{}')
    const result = await transport.run(60_000, () =>
      transport.request({ uri: 'https://steamcommunity.com/', json: true }, () => {
        throw new TypeError('item.classid is undefined')
      }),
    )
    expect(result).toEqual({ kind: 'failed', code: 'UNREADABLE' })
  })

  it('ends running requests when it closes, and starts no new requests', async () => {
    const asked = Promise.withResolvers<void>()
    answer = () => asked.resolve()
    const pending = get('https://steamcommunity.com/')
    await asked.promise
    transport.close()
    expect(await pending).toEqual({ kind: 'failed', code: 'CLOSED' })
    expect(await get('https://steamcommunity.com/')).toEqual({ kind: 'failed', code: 'CLOSED' })
    expect(hosts).toHaveLength(1)
  })

  it('keeps tokens out of its errors', async () => {
    answer = (response) => response.socket?.destroy()
    const result = await get('https://api.steampowered.com/?access_token=eyJ.secret.x')
    expect(JSON.stringify(result)).not.toContain('secret')
    // The text of this error quotes the URL.
    const invalid = await get('https://?access_token=eyJ.secret.x')
    expect(invalid).toEqual({ kind: 'failed', code: 'NETWORK' })
  })
})
