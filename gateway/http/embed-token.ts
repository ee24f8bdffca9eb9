/**
 * The proof of a page in a frame of its store. Browsers withhold cookies there, so the token stands in the document,
 * and it is good for that deposit alone.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../kit/clock.ts'

export type Framed = { hash: string; origin: string }

export type EmbedTokens = {
  make(framed: Framed): string
  /** The deposit and origin that the token was made for; undefined for one that is expired or not ours. */
  read(token: string): Framed | undefined
}

/** `hmacs` gives the hash of the key that seals first, then those of older keys. */
export type EmbedTokenDeps = { hmacs(text: string): readonly Buffer[]; clock: Clock }

/** A deposit lives for a day at most, and its page is read a while longer. A page that is older loads itself again. */
const LIFE_MS = 36 * 3_600_000
const FORM = /^e1\.([0-9a-f]{32})\.(\d{10})\.([\w-]{1,700})\.([\w-]{43})$/

/** True for what was meant as one, so no cookie is given in answer to it. */
export const isEmbedToken = (token: unknown): token is string =>
  typeof token === 'string' && token.startsWith('e1.')

export function createEmbedTokens({ hmacs, clock }: EmbedTokenDeps): EmbedTokens {
  const macsOf = ({ hash, origin }: Framed, expires: string) => hmacs(`embed ${hash} ${expires} ${origin}`)
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
      const given = Buffer.from(mac, 'base64url')
      const isOurs = macsOf(framed, expires).some(
        (one) => one.length === given.length && timingSafeEqual(one, given),
      )
      return isOurs ? framed : undefined
    },
  }
}
