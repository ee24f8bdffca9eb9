/** The access token with which Waxpeer checks the account's offers. Waxpeer can forget it early. */

import type { MarketAnswer } from '../market.ts'
import type { Caller } from './caller.ts'
import type { Time } from './pace.ts'
import { envelopeSchema } from './waxpeer-answers.ts'

/** Waxpeer wants an access token every hour, so the client sends one a little earlier. */
const TOKEN_MS = 50 * 60_000
/** The least time between sending a token and sending it again because Waxpeer forgot it. */
const AGAIN_MS = 60_000

export type Token = {
  /** Sends the token, unless Waxpeer already has it. */
  keep(accessToken: string): Promise<MarketAnswer<null>>
  /** Sends the last token again. False if there is none, it was sent a moment ago, or Waxpeer does not take it. */
  sendAgain(): Promise<boolean>
}

export function createToken(call: Caller<{ body?: unknown }>, time: Time): Token {
  let lastSent: { token: string; atMs: number } | undefined
  const send = async (token: string): Promise<MarketAnswer<null>> => {
    const body = { token: Buffer.from(token).toString('base64') }
    const answer = await call('user/steam-token', envelopeSchema, {
      body,
      carriesToken: true,
      read: () => null,
    })
    lastSent = answer.kind === 'answered' ? { token, atMs: time.now() } : undefined
    return answer
  }
  return {
    keep: async (accessToken) =>
      lastSent?.token === accessToken && time.now() - lastSent.atMs < TOKEN_MS
        ? { kind: 'answered', value: null }
        : send(accessToken),
    sendAgain: async () =>
      lastSent !== undefined &&
      time.now() - lastSent.atMs >= AGAIN_MS &&
      (await send(lastSent.token)).kind === 'answered',
  }
}
