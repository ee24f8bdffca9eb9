/** Calls the till's public URL as a stranger would, but proves in one call that it knows the master key. */
import { connect } from 'node:tls'
import { z } from 'zod'
import { DOCTOR_HEADER } from '../kit/doctor-proof.ts'
import { reasonOf } from '../kit/reason.ts'
import { MADE_UP_ADDRESS, type PublicAnswer } from './proxy.ts'

const DEADLINE_MS = 10_000
const LARGE_BYTES = 60_000

const healthSchema = z.object({
  version: z.string(),
  commit: z.string(),
  caller: z.object({ address: z.string(), protocol: z.string(), isProxy: z.boolean() }).optional(),
})

type Call = { method?: string; headers?: Record<string, string>; body?: string }

export const ask = (url: URL, call: Call = {}): Promise<Response> =>
  fetch(url, { ...call, redirect: 'manual', signal: AbortSignal.timeout(DEADLINE_MS) })

export async function probePublic(publicUrl: URL, proof: string): Promise<PublicAnswer> {
  try {
    const headers = { [DOCTOR_HEADER]: proof, 'x-forwarded-for': MADE_UP_ADDRESS }
    const health = await ask(new URL('/healthz', publicUrl), { headers })
    const { data } = healthSchema.safeParse(await health.json().catch(() => undefined))
    return {
      kind: 'answered',
      build: data && { version: data.version, commit: data.commit },
      caller: data?.caller,
      certificateEndsMs: await certificateEnd(publicUrl),
      hsts: health.headers.get('strict-transport-security'),
      page: await readPage(publicUrl),
      largeBody: await sendLarge(publicUrl),
      plain: await askPlain(publicUrl),
    }
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error) }
  }
}

export function certificateEnd({ protocol, hostname, port }: URL): Promise<number | undefined> {
  if (protocol !== 'https:') return Promise.resolve(undefined)
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const socket = connect({ host: hostname, port: Number(port || 443), servername: hostname }, () => {
    resolve(Date.parse(socket.getPeerCertificate().valid_to))
    socket.destroy()
  })
  socket.setTimeout(DEADLINE_MS, () => socket.destroy())
  socket.once('error', () => resolve(undefined)).once('close', () => resolve(undefined))
  return promise
}

async function readPage(publicUrl: URL): Promise<{ status: number; encoding: string | null }> {
  const page = await ask(publicUrl)
  const { status } = page
  const [file] = /\/assets\/[\w.-]+\.js/.exec(await page.text()) ?? []
  if (file === undefined) return { status, encoding: null }
  const answer = await ask(new URL(file, publicUrl), { headers: { 'accept-encoding': 'br, gzip' } })
  await answer.body?.cancel()
  return { status, encoding: answer.headers.get('content-encoding') }
}

/** Sends the body without an API key, so the gateway refuses it with a request id. */
async function sendLarge(publicUrl: URL): Promise<{ status: number; isOurs: boolean }> {
  const answer = await ask(new URL('/v1/deposits', publicUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ externalId: 'x'.repeat(LARGE_BYTES) }),
  })
  await answer.body?.cancel()
  return { status: answer.status, isOurs: answer.headers.has('x-request-id') }
}

async function askPlain(publicUrl: URL) {
  try {
    const answer = await ask(new URL(`http://${publicUrl.hostname}/`))
    await answer.body?.cancel()
    const location = answer.headers.get('location') ?? ''
    return { kind: 'answered', status: answer.status, location } as const
  } catch {
    return { kind: 'closed' } as const
  }
}
