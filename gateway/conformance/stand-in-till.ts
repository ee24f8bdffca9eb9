/** Stands in for the till while a store is tested: opens deposits for it, and serves them and an event log. */
import { createServer, type IncomingMessage } from 'node:http'
import { z } from 'zod'
import { CURRENCIES } from '../../contract/money.ts'
import type { StoreDeposit } from '../../contract/store-api.ts'
import type { WebhookEvent } from '../../contract/webhooks.ts'
import { MOST_BODY_BYTES } from '../http/json-body.ts'
import type { Order } from './invented.ts'

export type StandInTill = {
  url: string
  /** Events in the order of their sequences. */
  log: WebhookEvent[]
  /** How many times the store has read the log. */
  reads(): number
  /** The highest `sequence` that the store was given, or passed as `after`; 0 if it has read nothing. */
  servedUpTo(): number
  close(): Promise<void>
}

type Options = {
  port: number
  openDeposit(order: Order): StoreDeposit
}

const PAGE_SIZE = 100

const orderSchema = z.object({
  externalId: z.string(),
  currency: z.enum(CURRENCIES),
  customerReference: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).default({}),
})

/** Listens on this machine. Rejects if the port is taken. */
export async function startStandInTill({ port, openDeposit }: Options): Promise<StandInTill> {
  const log: WebhookEvent[] = []
  const deposits = new Map<string, StoreDeposit>()
  let [reads, servedUpTo] = [0, 0]
  const answer = async (request: IncomingMessage): Promise<{ status: number; body: unknown }> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://till')
    if (pathname === '/v1/events') {
      const after = Number(searchParams.get('after') ?? 0)
      const limit = Math.min(Number(searchParams.get('limit') ?? PAGE_SIZE), PAGE_SIZE)
      const rest = log.filter(({ sequence }) => sequence > after)
      const events = rest.slice(0, limit)
      const next = events.at(-1)?.sequence ?? after
      reads += 1
      servedUpTo = Math.max(servedUpTo, next)
      return { status: 200, body: { events, next, hasMore: rest.length > events.length } }
    }
    if (pathname === '/v1/deposits' && request.method === 'POST') {
      const { customerReference = null, ...body } = orderSchema.parse(JSON.parse(await textOf(request)))
      const known = deposits.get(body.externalId)
      const deposit = known ?? openDeposit({ ...body, customerReference })
      deposits.set(body.externalId, deposit)
      return { status: known === undefined ? 201 : 200, body: deposit }
    }
    const wantedId = /^\/v1\/deposits\/(\d+)$/.exec(pathname)?.[1]
    const isWanted = ({ id, externalId }: StoreDeposit) =>
      wantedId === undefined ? externalId === searchParams.get('externalId') : id === wantedId
    const logged = log.flatMap(({ data }) => ('externalId' in data ? [data] : []))
    const deposit = logged.findLast(isWanted) ?? [...deposits.values()].find(isWanted)
    if (deposit !== undefined) return { status: 200, body: deposit }
    const detail = '`tradetill verify` does not know this address or deposit'
    return { status: 404, body: { code: 'not_found', status: 404, detail } }
  }
  const server = createServer((request, response) => {
    answer(request)
      .catch(() => ({ status: 400, body: { code: 'invalid_request', status: 400 } }))
      .then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://localhost:${port}`,
    log,
    reads: () => reads,
    servedUpTo: () => servedUpTo,
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > MOST_BODY_BYTES) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
