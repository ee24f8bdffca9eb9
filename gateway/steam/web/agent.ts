import { Agent } from 'node:https'
import net from 'node:net'
import { loopbackAddress } from '../../../contract/loopback.ts'

/** How long a socket may stay silent before it is destroyed. The login library has no timeout of its own. */
const IDLE_SOCKET_MS = 30_000

class SteamAgent extends Agent {
  readonly #target: { host: string; port: number } | undefined

  constructor(target?: { host: string; port: number }) {
    super({ keepAlive: false })
    this.#target = target
  }

  override createConnection(...args: Parameters<Agent['createConnection']>) {
    const socket = this.#target ? net.connect(this.#target) : super.createConnection(...args)
    if (socket instanceof net.Socket) socket.setTimeout(IDLE_SOCKET_MS, () => socket.destroy())
    return socket
  }
}

/**
 * Returns the agent that redirects every host of Steam to the sandbox. URLs, hosts and cookies stay those of
 * production; only the socket leads elsewhere. Throws unless the mode is sandbox and the target is a plain loopback
 * address, because anybody who controls the target can forge payments.
 */
export function createSandboxAgent(mode: 'sandbox' | 'live', sandboxUrl: string): Agent {
  if (mode !== 'sandbox') {
    throw new Error('The Steam sandbox is refused in live mode: remove its address from the settings.')
  }
  const url = URL.canParse(sandboxUrl) ? new URL(sandboxUrl) : undefined
  const host = url && loopbackAddress(url)
  if (!url || !host || url.protocol !== 'http:' || url.username !== '' || url.pathname !== '/') {
    throw new Error(
      'The Steam sandbox must be on this machine: use an address such as http://127.0.0.1:4301.',
    )
  }
  return new SteamAgent({ host, port: Number(url.port || 80) })
}

/** Returns the agent for logins in live mode. It only adds the time limit on silent sockets. */
export function createLiveAgent(): Agent {
  return new SteamAgent()
}
