/** Calls a store's webhook handler. Some of its calls break off, or never end. */
import { request } from 'node:http'
import { request as secureRequest } from 'node:https'
import { connect } from 'node:net'
import { connect as secureConnect } from 'node:tls'
import { reasonOf } from '../kit/reason.ts'
import type { SignedHeaders } from '../webhooks/signature.ts'

export type Reply = { kind: 'answered'; status: number; text: string } | { kind: 'silent'; reason: string }

export type Message = { headers: Partial<SignedHeaders>; body: string }

export type HandlerClient = {
  /** Sends the call, and waits for the answer until the deadline. */
  send(message: Message): Promise<Reply>
  /** Sends the complete call, then disconnects before the answer, like a broken network or a killed till. */
  sendAndBreakOff(message: Message): Promise<void>
  /** Opens calls whose bodies never arrive completely. Resolves to a function that ends the calls. */
  openUnfinishedCalls(calls: number): Promise<() => void>
}

const MOST_ANSWER_CHARACTERS = 4_096

/** Returns the beginning of an answer, which may be endless. */
export async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length >= MOST_ANSWER_CHARACTERS) break
  }
  return text.slice(0, MOST_ANSWER_CHARACTERS)
}

export function createHandlerClient(url: URL, deadlineMs: number): HandlerClient {
  return {
    async send({ headers, body }) {
      try {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body,
          redirect: 'manual',
          signal: AbortSignal.timeout(deadlineMs),
        })
        return { kind: 'answered', status: answer.status, text: await beginningOf(answer) }
      } catch (error) {
        return { kind: 'silent', reason: reasonOfSilence(error) }
      }
    },
    sendAndBreakOff({ headers, body }) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const length = { 'content-length': Buffer.byteLength(body) }
      const open = url.protocol === 'https:' ? secureRequest : request
      const outgoing = open(url, {
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'application/json', ...headers, ...length },
      })
      outgoing.on('error', () => resolve())
      outgoing.on('close', () => resolve())
      outgoing.end(body, () => outgoing.destroy())
      return promise
    },
    async openUnfinishedCalls(calls) {
      const sockets = await Promise.all(Array.from({ length: calls }, () => openUnfinishedCall(url)))
      return () => {
        for (const socket of sockets) socket.destroy()
      }
    },
  }
}

function openUnfinishedCall(url: URL) {
  const isSecure = url.protocol === 'https:'
  const address = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (isSecure ? 443 : 80)),
  }
  const socket = isSecure ? secureConnect({ ...address, servername: url.hostname }) : connect(address)
  // An error closes the socket, which is handled below. Without a listener, it would end the process.
  socket.on('error', () => {})
  const head = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    'Content-Length: 1000',
    '',
    '{',
  ]
  const { promise, resolve } = Promise.withResolvers<typeof socket>()
  socket.write(head.join('\r\n'), () => resolve(socket))
  socket.once('close', () => resolve(socket))
  return promise
}

export function reasonOfSilence(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer'
  return error.name === 'TimeoutError' ? 'no answer in time' : reasonOf(error)
}

export const isAccepted = (reply: Reply): boolean =>
  reply.kind === 'answered' && reply.status >= 200 && reply.status < 300

export const describeReply = (reply: Reply): string =>
  reply.kind === 'answered' ? `it answered ${reply.status}` : `it did not answer (${reply.reason})`
