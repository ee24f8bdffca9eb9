/** Forwards a store's events to its developer's URL. It needs the store's API key but no database. */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { forwardEvents } from '../conformance/forward.ts'
import { systemClock } from '../kit/clock.ts'
import { isWebhookSecret } from './conformance.ts'
import { type Answer, done, refused } from './operation.ts'

/** `sequence`: that of the last event that the developer now has. `sent`: how many events were sent. */
export type ListenResult = { sequence: number; sent: number }

export type ListenOptions = {
  till: URL
  apiKey: string
  to: URL
  /** Webhook secret; undefined generates one. */
  secret?: string | undefined
  /** Sequence of the last event that the developer already has. */
  after: number
  /** Whether to stop at the end of the event log. */
  once: boolean
  signal?: AbortSignal
  /** Prints progress for a person. */
  say(line: string): void
}

export async function listen({ say, ...forwarding }: ListenOptions): Promise<Answer<ListenResult>> {
  const secret = forwarding.secret ?? `whsec_${randomBytes(32).toString('base64')}`
  if (!isWebhookSecret(secret)) return refused('usage', 'The secret must be whsec_ followed by base64.')
  if (forwarding.secret === undefined) say(`signing with ${secret}`)
  const forwarded = await forwardEvents(
    {
      // The handler checks the age of signatures by its machine's clock.
      clock: systemClock,
      // Ctrl-C ends the pause with an error. The forwarding then stops on its own.
      wait: (ms, signal) => pause(ms, undefined, { signal }).catch(() => {}),
      onTry: ({ type, sequence }, answer) => say(`${sequence} ${type} ${answer}`),
    },
    { ...forwarding, secret },
  )
  const { sequence, sent } = forwarded
  switch (forwarded.kind) {
    case 'ended':
      return done({ sequence, sent }, `Sent ${sent}. Continue with --after ${sequence}.`)
    case 'unreachable':
      return refused('unreachable', forwarded.reason)
    case 'refused':
      return refused('conflict', forwarded.reason)
    default:
      return forwarded satisfies never
  }
}
