/** The server of the operator's console. It has its own port and origin, apart from the shoppers' page. */
import { randomUUID } from 'node:crypto'
import { compile as trustedBy } from '@fastify/proxy-addr'
import { type FastifyInstance, fastify } from 'fastify'
import { boundedServers, DEFAULT_CONNECTION_LIMITS } from '../http/connections.ts'
import { MOST_BODY_BYTES, readJsonBodies } from '../http/json-body.ts'
import { readablePath } from '../http/readable-path.ts'
import { WITHOUT_AJV } from '../http/without-ajv.ts'
import { answerErrors } from './answer.ts'
import { guardCalls } from './guard.ts'
import { addConsoleHeaders, serveConsolePage } from './page.ts'
import { addConsoleCalls, type ConsoleDeps } from './routes.ts'

/**
 * The most open connections: enough for a few operators with some streams each (`live.ts`). `answerMs` is longer than
 * the half hour that a stream can stay open.
 */
const CONNECTIONS = { inAll: 500, perAddress: 100, answerMs: 35 * 60_000 }

export type ConsoleOptions = ConsoleDeps & {
  /** Folder of the built console. The build may still be running when the gateway starts. */
  folder: string
}

/** Creates the server, which does not listen yet. */
export async function createConsole(options: ConsoleOptions): Promise<FastifyInstance> {
  const { log, config, party, nowMs } = options
  const { trustedProxies, mode } = config
  const isTrusted = trustedBy(trustedProxies ?? [])
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    rewriteUrl: readablePath,
    bodyLimit: MOST_BODY_BYTES,
    trustProxy: trustedProxies === undefined ? false : isTrusted,
    forceCloseConnections: true,
    schemaController: WITHOUT_AJV,
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
  // Fastify does not close a server that never listened, so its timers would stay.
  app.addHook('onClose', async ({ server }) => {
    if (!server.listening) server.close()
  })
  await app.register(async (scope) => addConsoleCalls(scope, options))
  await serveConsolePage(app, { folder: options.folder, mode })
  return app
}
