/**
 * The token of a page that its store shows in a frame. Browsers withhold cookies there, so the token is in the
 * document, and is valid for the page's deposit alone.
 */
import type { Clock } from '../kit/clock.ts'
import { isSameBytes } from '../kit/same-bytes.ts'

export type FramedDeposit = { hash: string; origin: string }

export type EmbedTokens = {
  make(framed: FramedDeposit): string
  /** Returns the deposit and origin of the token; undefined if it is expired or not ours. */
  read(token: string): FramedDeposit | undefined
}

/** `hmacs` returns the HMAC with the current key first, then those with older keys. */
export type EmbedTokenDeps = { hmacs(text: string): readonly Buffer[]; clock: Clock }

/** Longer than the life of a deposit, which is a day at most unless outages stop its countdown. */
const LIFE_MS = 36 * 3_600_000
const FORM = /^e1\.([0-9a-f]{32})\.(\d{10})\.([\w-]{1,700})\.([\w-]{43})$/

/** True for a text that begins like such a token, valid or not. */
export const isEmbedToken = (token: unknown): token is string =>
  typeof token === 'string' && token.startsWith('e1.')

export function createEmbedTokens({ hmacs, clock }: EmbedTokenDeps): EmbedTokens {
  const macsOf = ({ hash, origin }: FramedDeposit, expires: string) =>
    hmacs(`embed ${hash} ${expires} ${origin}`)
  return {
    make: (framed) => {
      const expires = String(Math.floor((clock.now().getTime() + LIFE_MS) / 1000))
      const [mac] = macsOf(framed, expires)
      if (mac === undefined) throw new Error('there is no key to sign with')
      const origin = Buffer.from(framed.origin).toString('base64url')
      return `e1.${framed.hash}.${expires}.${origin}.${mac.toString('base64url')}`
    },
    read: (token) => {
      const [, hash = '', expires = '', encoded = '', mac = ''] = FORM.exec(token) ?? []
      if (Number(expires) * 1000 <= clock.now().getTime()) return undefined
      const framed = { hash, origin: Buffer.from(encoded, 'base64url').toString() }
      const givenMac = Buffer.from(mac, 'base64url')
      const isOurs = macsOf(framed, expires).some((expected) => isSameBytes(expected, givenMac))
      return isOurs ? framed : undefined
    },
  }
}
