/**
 * A price source on this machine: gives each path the answer that the test sets, and records calls with their times.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { brotliCompressSync } from 'node:zlib'
import { GAMES, type Game } from '../../contract/games.ts'
import type { Clock } from '../kit/clock.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

export type SourceServer = Awaited<ReturnType<typeof startSourceServer>>

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

export const eachGame = (url: string) =>
  Object.fromEntries(GAMES.map((game) => [game, url])) as Record<Game, string>

/** Compresses with Brotli. Refuses callers that do not accept it. */
export const brotli =
  (body: unknown): Answer =>
  (response, { headers }) => {
    if (!/\bbr\b/.test(String(headers['accept-encoding']))) return void response.writeHead(406).end()
    response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync(JSON.stringify(body)))
  }

/** Announces the length of the complete answer, but breaks off in the middle. */
export const halfOf =
  (body: unknown): Answer =>
  (response) => {
    const text = JSON.stringify(body)
    response.writeHead(200, { 'content-length': Buffer.byteLength(text) })
    response.write(text.slice(0, text.length / 2), () => response.destroy())
  }

export const silence: Answer = () => {}

export async function startSourceServer(clock?: Clock) {
  const answers = new Map<string, Answer>()
  const requests: { url: string; at: Date | undefined }[] = []
  const server = createServer((request, response) => {
    const url = request.url ?? ''
    requests.push({ url, at: clock?.now() })
    const answer = answers.get(url.split('?')[0] ?? '') ?? json({ error: 'not found' }, 404)
    answer(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    answer: (path: string, answer: Answer) => answers.set(path, answer),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
