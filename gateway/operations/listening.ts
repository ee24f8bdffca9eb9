/** Hands the events of a store on to an address of its developer. It needs the store's key, and no database. */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { forwardEvents } from '../conformance/forward.ts'
import { systemClock } from '../kit/clock.ts'
import { isWebhookSecret } from './conformance.ts'
import { type Answer, done, refused } from './operation.ts'

export type Listened = { sequence: number; sent: number }

export type Listening = {
  till: URL
  apiKey: string
  to: URL
  /** One is made without it. */
  secret?: string | undefined
  after: number
  once: boolean
  signal?: AbortSignal
  /** Tells a person what happens meanwhile. */
  say(line: string): void
}

export async function listen({ say, ...wanted }: Listening): Promise<Answer<Listened>> {
  const secret = wanted.secret ?? `whsec_${randomBytes(32).toString('base64')}`
  if (!isWebhookSecret(secret)) return refused('usage', 'The secret must have the form whsec_ and base64.')
  if (wanted.secret === undefined) say(`signing with ${secret}`)
  const forwarded = await forwardEvents(
    {
      // A handler judges signatures by its machine's clock.
      clock: systemClock,
      wait: (ms, signal) => pause(ms, undefined, { signal }).catch(() => {}),
      onTry: ({ type, sequence }, answer) => say(`${sequence} ${type} ${answer}`),
    },
    { ...wanted, secret },
  )
  const { sequence, sent } = forwarded
  switch (forwarded.kind) {
    case 'ended':
      return done({ sequence, sent }, `Sent ${sent}. Go on with --after ${sequence}.`)
    case 'unreachable':
      return refused('unreachable', forwarded.reason)
    case 'refused':
      return refused('conflict', forwarded.reason)
    default:
      return forwarded satisfies never
  }
}
