/** The server of the operator's console: a port and an origin of its own, apart from the shoppers' page. */
import { randomUUID } from 'node:crypto'
import { compile as trustedBy } from '@fastify/proxy-addr'
import { type FastifyInstance, fastify } from 'fastify'
import { boundedServers, DEFAULT_CONNECTION_LIMITS } from '../http/connections.ts'
import { readJsonBodies } from '../http/json-body.ts'
import { answerErrors } from './answer.ts'
import { guardCalls } from './guard.ts'
import { addConsoleHeaders, serveConsolePage } from './page.ts'
import { addConsoleCalls, type ConsoleDeps } from './routes.ts'

const BODY_BYTES = 64 * 1024
/** A few operators, with some streams each. One of those may stay for half an hour. */
const CONNECTIONS = { inAll: 500, perAddress: 100, answerMs: 35 * 60_000 }

export type ConsoleOptions = ConsoleDeps & {
  /** The console's build. It may still be running when the gateway starts. */
  folder: string
}

/** Builds the server without listening; `inject` works on it as it is. */
export async function createConsole(options: ConsoleOptions): Promise<FastifyInstance> {
  const { log, config, party, nowMs } = options
  const { trustedProxies, mode } = config
  const isTrusted = trustedBy(trustedProxies ?? [])
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    bodyLimit: BODY_BYTES,
    trustProxy: trustedProxies === undefined ? false : isTrusted,
    forceCloseConnections: true,
    serverFactory: boundedServers({
      limits: { ...DEFAULT_CONNECTION_LIMITS, ...CONNECTIONS },
      log,
      isTrustedProxy: (address) => isTrusted(address, 0),
      nowMs,
    }),
  })
  app.removeContentTypeParser('text/plain')
  readJsonBodies(app)
  answerErrors(app, log)
  addConsoleHeaders(app, party.url)
  guardCalls(app, { url: party.url, mode, isProxied: trustedProxies !== undefined })
  // Fastify leaves a server that never listened, with its timers.
  app.addHook('onClose', async ({ server }) => {
    if (!server.listening) server.close()
  })
  await app.register(async (scope) => addConsoleCalls(scope, options))
  await serveConsolePage(app, { folder: options.folder, mode })
  return app
}
