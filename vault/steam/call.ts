/** One request to Steam, with a deadline, a limit on the size of its answer, and no redirects. */
import { Agent, request } from 'node:https'
import net from 'node:net'

const MOST_BYTES = 16 * 1024 * 1024
/** How long a connection to the sandbox may be idle. */
const IDLE_MS = 30_000

export type Call = {
  method: 'GET' | 'POST'
  url: URL
  headers?: Record<string, string>
  form?: URLSearchParams
}

/**
 * `eresult`: Steam's own result code, 1 for success or if Steam gives none. `failed`: no complete answer arrived, and
 * Steam may or may not have carried out the request.
 */
export type Reply = { kind: 'reply'; status: number; eresult: number; text: string } | { kind: 'failed' }

/** Steam's own result RateLimitExceeded. */
export const RATE_LIMIT_RESULT = 84
/** The page of the network in front of Steam, which refuses an address that kept asking too often. */
const BLOCKED_PAGE = /<title>access denied<\/title>/i

/** True if Steam refuses the request because there were too many. */
export const isLimit = ({ status, eresult, text }: Extract<Reply, { kind: 'reply' }>): boolean =>
  status === 429 || eresult === RATE_LIMIT_RESULT || (status === 403 && BLOCKED_PAGE.test(text))

export type Caller = { agent: Agent; call(call: Call): Promise<Reply> }

class SandboxAgent extends Agent {
  readonly #target: { host: string; port: number }

  constructor(target: { host: string; port: number }) {
    super({ keepAlive: false })
    this.#target = target
  }

  override createConnection() {
    const socket = net.connect(this.#target)
    return socket.setTimeout(IDLE_MS, () => socket.destroy())
  }
}

/**
 * `sandboxUrl`: the address of a Steam sandbox on this machine. Hosts and cookies stay those of Steam, and only the
 * connection is redirected. Throws for any other machine, which would receive the sessions of all accounts.
 */
export function createCaller(sandboxUrl: string | undefined, deadlineMs = 30_000): Caller {
  const agent =
    sandboxUrl === undefined ? new Agent({ keepAlive: true, maxSockets: 4 }) : agentFor(sandboxUrl)
  return { agent, call: (call) => send(agent, call, deadlineMs) }
}

function agentFor(sandboxUrl: string): Agent {
  const url = URL.canParse(sandboxUrl) ? new URL(sandboxUrl) : undefined
  const isHere = url?.hostname === 'localhost' || url?.hostname === '127.0.0.1'
  if (url === undefined || !isHere || url.protocol !== 'http:' || url.username !== '') {
    throw new Error(
      'The Steam sandbox must be on this machine: use an address such as http://127.0.0.1:4301.',
    )
  }
  return new SandboxAgent({ host: '127.0.0.1', port: Number(url.port || 80) })
}

function send(agent: Agent, { method, url, headers = {}, form }: Call, deadlineMs: number): Promise<Reply> {
  const body = form?.toString()
  const contentType = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
  return new Promise((resolve) => {
    const fail = () => resolve({ kind: 'failed' })
    const options = {
      method,
      agent,
      headers: { ...headers, ...contentType },
      signal: AbortSignal.timeout(deadlineMs),
    }
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        chunks.push(chunk)
        if (bytes > MOST_BYTES) response.destroy()
      })
      response.once('error', fail).once('close', fail)
      response.once('end', () => {
        const eresult = Number.parseInt(String(response.headers['x-eresult'] ?? '1'), 10)
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ kind: 'reply', status: response.statusCode ?? 0, eresult, text })
      })
    })
    sent.once('error', fail)
    sent.end(body)
  })
}
