/** How Waxpeer expects calls, on one host for all games. */

import type { Failure } from '../market.ts'
import { type Caller, createCaller } from './caller.ts'
import type { Call, Connection } from './connection.ts'
import type { Time } from './pace.ts'
import { envelopeSchema, GAMES } from './waxpeer-answers.ts'

const HOST = 'https://api.waxpeer.com/v1/'
const EVERY_MS = 1_000

export type Ask = { query?: readonly (readonly [string, string])[]; body?: unknown }
export type WaxpeerCaller = Caller<Ask>

export const createWaxpeerCaller = (
  key: string,
  parts: { connection: Connection; time: Time },
): WaxpeerCaller =>
  createCaller<Ask>(
    { everyMs: EVERY_MS, callOf: (name, ask) => callOf(name, key, ask), failureOf },
    { ...parts, key },
  )

function callOf(name: string, key: string, { query = [], body }: Ask): Call {
  const url = new URL(name, HOST)
  for (const [field, value] of query) url.searchParams.append(field, value)
  url.searchParams.set('api', key)
  return body === undefined ? { method: 'GET', url } : { method: 'POST', url, body: JSON.stringify(body) }
}

function failureOf(answer: unknown, status: number): Failure | undefined {
  const envelope = envelopeSchema.safeParse(answer)
  if (!envelope.success || envelope.data.success) return undefined
  const code = envelope.data.msg ?? 'no reason'
  return status === 403 && /wrong api/i.test(code) ? { kind: 'locked_out' } : { kind: 'refused', code }
}

export const gameOf = (appId: number): readonly [string, string] => {
  const name = Object.keys(GAMES).find((game) => GAMES[game] === appId)
  if (name === undefined) throw new Error(`Waxpeer does not sell the game ${appId}`)
  return ['game', name]
}
