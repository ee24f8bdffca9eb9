/** Calls the console by its own URL, and checks whether anything listens at its configured address. */
import { connect } from 'node:net'
import { z } from 'zod'
import type { ConsoleConfig } from '../config.ts'
import { reasonOf } from '../kit/reason.ts'
import type { ConsoleAnswer, ConsoleProbe } from './console.ts'
import { ask, certificateEnd } from './public-probe.ts'

const LISTENER_MS = 3_000
/** The most characters of an answer to search. The console's document has fewer. */
const MOST_CHARACTERS = 20_000
const TITLE = '<title>Tradetill console</title>'
const MODES = ['sandbox', 'live'] as const
const refusalSchema = z.object({ error: z.object({ kind: z.string() }) })

export async function probeConsole({ url, host, port }: ConsoleConfig): Promise<ConsoleProbe> {
  const [isThere, answer] = await Promise.all([isListening(host, port), askConsole(url)])
  return { url, listener: { place: `${host}:${port}`, isThere }, answer }
}

async function askConsole(url: URL): Promise<ConsoleAnswer> {
  try {
    const answer = await ask(url)
    const body = (await answer.text()).slice(0, MOST_CHARACTERS)
    return {
      kind: 'answered',
      status: answer.status,
      page: body.includes(TITLE) ? MODES.find((mode) => body.includes(`data-mode="${mode}"`)) : undefined,
      refusal: refusalIn(body),
      certificateEndsMs: await certificateEnd(url),
    }
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error) }
  }
}

function refusalIn(body: string): string | undefined {
  try {
    return refusalSchema.safeParse(JSON.parse(body)).data?.error.kind
  } catch {
    return undefined
  }
}

function isListening(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port }, () => resolve(true))
  socket.setTimeout(LISTENER_MS, () => socket.destroy())
  socket.once('error', () => resolve(false)).once('close', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
