/**
 * Double-submit protection: a page of another origin can neither read the cookie nor set the header. A page in a frame
 * of its store has no cookie, but a token of its deposit in the document.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isLoopback } from '../../contract/loopback.ts'
import { isSameBytes } from '../kit/same-bytes.ts'
import { type EmbedTokens, isEmbedToken } from './embed-token.ts'
import { hashOf } from './misses.ts'
import { refuse } from './refusal.ts'

export type Csrf = {
  /** Gives the browser a token with the page, unless it has one. */
  giveToken(request: FastifyRequest, reply: FastifyReply): void
  /**
   * Refuses a changing call that does not come from our own page, and then sets a new token, except for a frame. Also
   * refuses a body that is not JSON.
   */
  check(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Refuses a framed page's call about another deposit. Runs once the body is known. */
  checkDeposit(request: FastifyRequest): Promise<void>
}

const TOKEN = /^[\w-]{43}$/
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

type CsrfOptions = { publicUrl: URL; mode: 'sandbox' | 'live'; embedTokens?: EmbedTokens | undefined }

/**
 * A sandbox, and a till whose public address is this machine, can be reached as localhost and as 127.0.0.1, so there
 * the address of the call counts as ours too. Elsewhere only the public address does: over plain http, anyone in
 * between could serve a page under our name.
 */
export function createCsrf({ publicUrl, mode, embedTokens }: CsrfOptions): Csrf {
  const isLocal = publicUrl.protocol === 'http:' && isLoopback(publicUrl)
  const isOurs = (request: FastifyRequest, origin: string) =>
    origin === publicUrl.origin ||
    ((mode === 'sandbox' || isLocal) && origin === `http://${request.headers.host}`)
  const isSecure = publicUrl.protocol === 'https:'
  const name = isSecure ? '__Host-csrf' : 'csrf'

  const setToken = (reply: FastifyReply) => {
    const token = randomBytes(32).toString('base64url')
    reply.header('set-cookie', `${name}=${token}; Path=/; SameSite=Lax${isSecure ? '; Secure' : ''}`)
  }
  return {
    giveToken: (request, reply) => {
      if (tokenOf(request, name) === undefined) setToken(reply)
    },
    check: async (request, reply) => {
      if (SAFE_METHODS.has(request.method)) return
      const token = request.headers['x-csrf-token']
      const framed = isEmbedToken(token) ? embedTokens?.read(token) : undefined
      request.call.framedHash = framed?.hash
      if (isOurOrigin(request, isOurs) && (framed !== undefined || hasMatchingToken(request, name))) {
        if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
          refuse('unsupported_media_type')
        return
      }
      // A frame gets no cookie: its page reloads for a new token.
      if (!isEmbedToken(token)) setToken(reply)
      refuse('cross_site_token')
    },
    checkDeposit: async (request) => {
      const { framedHash } = request.call
      const hash = hashOf(request)
      if (framedHash !== undefined && hash !== undefined && hash !== framedHash) refuse('cross_site_token')
    },
  }
}

/** Also undefined if there are two cookies of this name, because somebody must have planted one. */
function tokenOf(request: FastifyRequest, name: string): string | undefined {
  const tokenCookies = (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
  const token = tokenCookies[0]?.slice(name.length + 1)
  return tokenCookies.length === 1 && token !== undefined && TOKEN.test(token) ? token : undefined
}

function hasMatchingToken(request: FastifyRequest, name: string): boolean {
  const cookie = tokenOf(request, name)
  const header = request.headers['x-csrf-token']
  if (cookie === undefined || typeof header !== 'string') return false
  return isSameBytes(Buffer.from(cookie), Buffer.from(header))
}

type IsOurs = (request: FastifyRequest, origin: string) => boolean

function isOurOrigin(request: FastifyRequest, isOurs: IsOurs): boolean {
  const site = request.headers['sec-fetch-site']
  const { origin } = request.headers
  if (site === undefined && origin === undefined) return false
  if (site !== undefined && site !== 'same-origin') return false
  return origin === undefined || isOurs(request, origin)
}
