/** Calls to a market over HTTPS, or under the same host names to the market sandbox. */
import { Agent, request } from 'node:https'
import net, { isIP } from 'node:net'
import { WebSocket } from 'ws'

const DEADLINE_MS = 15_000
const MOST_BYTES = 16 * 1024 * 1024
/** The longest message that a socket accepts. */
const MOST_MESSAGE_BYTES = 1024 * 1024

export type Call = { method: 'GET' | 'POST'; url: URL; body?: string }
export type Reply = { status: number; type: string; text: string }

export type Connection = {
  /** Rejects if no complete answer arrives in time, or if it is too long. */
  ask(call: Call): Promise<Reply>
  /** Opens a websocket, such as wss://market.example. It closes if it does not open in time. */
  open(url: string): WebSocket
}

class SandboxAgent extends Agent {
  readonly #target: { host: string; port: number }

  constructor(target: { host: string; port: number }) {
    super({ keepAlive: false })
    this.#target = target
  }

  override createConnection() {
    return net.connect(this.#target)
  }
}

/**
 * Throws unless the mode is sandbox, and `sandboxUrl` is a plain http address of this machine, without a user name or
 * path.
 */
export function sandboxConnection(
  mode: 'sandbox' | 'live',
  sandboxUrl: string,
  deadlineMs = DEADLINE_MS,
): Connection {
  if (mode !== 'sandbox') {
    throw new Error('The market sandbox is refused in live mode: remove its address from the settings.')
  }
  const url = URL.canParse(sandboxUrl) ? new URL(sandboxUrl) : undefined
  const host = url && loopbackHost(url)
  if (!url || !host || url.protocol !== 'http:' || url.username !== '' || url.pathname !== '/') {
    throw new Error(
      'The market sandbox must be on this machine: use an address such as http://127.0.0.1:4303.',
    )
  }
  const target = { host, port: Number(url.port || 80) }
  return {
    ask: askOver(new SandboxAgent(target), deadlineMs),
    open: (address) =>
      new WebSocket(address, { ...socketOptions(deadlineMs), createConnection: () => net.connect(target) }),
  }
}

export function liveConnection(): Connection {
  return {
    ask: askOver(new Agent({ keepAlive: true, maxSockets: 4 }), DEADLINE_MS),
    open: (address) => new WebSocket(address, socketOptions(DEADLINE_MS)),
  }
}

const socketOptions = (handshakeTimeout: number) => ({
  handshakeTimeout,
  maxPayload: MOST_MESSAGE_BYTES,
  perMessageDeflate: false,
})

function loopbackHost({ hostname }: URL): string | undefined {
  if (hostname === 'localhost') return '127.0.0.1'
  const plain = hostname.replace(/^\[|\]$/g, '')
  return isIP(plain) !== 0 && (plain === '::1' || plain.startsWith('127.')) ? plain : undefined
}

function askOver(agent: Agent, deadlineMs: number): Connection['ask'] {
  return ({ method, url, body }) =>
    new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' }
      const signal = AbortSignal.timeout(deadlineMs)
      const sent = request(url, { method, headers, agent, signal }, (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > MOST_BYTES) return void sent.destroy(new Error('the answer is too long'))
          chunks.push(chunk)
        })
        response.once('error', reject)
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers['content-type'] ?? '',
            text: Buffer.concat(chunks).toString(),
          }),
        )
      })
      sent.once('error', reject)
      sent.end(body)
    })
}
