import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

export type Received = { headers: IncomingHttpHeaders; body: string }

export type Receiver = {
  url: string
  port: number
  received: Received[]
  /** Answers to the next requests, in order, then 204. */
  answers: ((response: ServerResponse) => void)[]
  close(): Promise<void>
}

export const status = (code: number, headers: Record<string, string> = {}) => {
  return (response: ServerResponse): void => {
    response.writeHead(code, headers).end()
  }
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const answers: Receiver['answers'] = []
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    const answer = answers.shift() ?? status(204)
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  return {
    url: `http://127.0.0.1:${address.port}/hooks`,
    port: address.port,
    received,
    answers,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
