/** Parses JSON bodies, and limits their depth. The servers limit a body to `MOST_BODY_BYTES`. */
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ProblemError } from './refusal.ts'

export const MOST_BODY_BYTES = 64 * 1024
/** Our calls nest only a few levels. Thousands of levels could exhaust the stack. */
const MOST_LEVELS = 32
const [QUOTE, BACKSLASH] = [0x22, 0x5c]
/** The codes of `[` and `{`, and of `]` and `}`. */
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

type Done = (error: Error | null, body?: unknown) => void
export type JsonParser = (request: FastifyRequest, bytes: Buffer, done: Done) => void

/**
 * Parses like Fastify, and refuses bodies that nest too deeply or are not UTF-8. Decoding would replace each wrong byte
 * with the same character, so two different ids could become one.
 */
export function boundedJson(app: FastifyInstance): JsonParser {
  const parse = app.getDefaultJsonParser('error', 'error')
  return (request, bytes, done) => {
    if (!isUtf8(bytes)) return done(invalid('the body must be UTF-8, and not compressed'))
    const text = bytes.toString()
    if (isTooDeep(text)) done(invalid(`the body nests more than ${MOST_LEVELS} levels`))
    else parse(request, text, done)
  }
}

/** Makes `app` parse every JSON body with `boundedJson`. */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = boundedJson(app)
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parse)
}

const invalid = (message: string) => new ProblemError('invalid_request', [{ path: '', message }])

function isTooDeep(text: string): boolean {
  let levels = 0
  let isInString = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (isInString) {
      if (code === BACKSLASH) at += 1
      else if (code === QUOTE) isInString = false
    } else if (code === QUOTE) isInString = true
    else if (OPENING.has(code)) levels += 1
    else if (CLOSING.has(code)) levels -= 1
    if (levels > MOST_LEVELS) return true
  }
  return false
}
