/** Answers requests that Node could not read. Fastify sees neither a request nor a reply for them. */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { API_HEADERS, commonHeaders } from './headers.ts'
import { problemWith } from './problem.ts'

type ReadError = Error & { code?: string }

/** Returns a handler for the errors of Node's parser. It ends the connection, as Node itself does. */
export function answerUnread(publicUrl: URL): (error: ReadError, socket: Socket) => void {
  const headers = [...commonHeaders(publicUrl), ...Object.entries(API_HEADERS)]
  return (error, socket) => {
    // There is nobody to answer.
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    if (socket.writable) socket.write(answerTo(error, headers))
    socket.destroy(error)
  }
}

function answerTo({ code }: ReadError, headers: [name: string, value: string][]): string {
  // Most of these connections have sent nothing, so there is no call to refuse.
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n'
  const problem =
    code === 'HPE_HEADER_OVERFLOW'
      ? problemWith('headers_too_large')
      : problemWith('invalid_request', [{ path: '', message: 'is not valid HTTP' }])
  const body = JSON.stringify(problem)
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `x-request-id: ${randomUUID()}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
