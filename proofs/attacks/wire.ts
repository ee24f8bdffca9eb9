/** Requests as bytes, for what no client would send. */
import { connect } from 'node:net'
import type { Target } from './target.ts'

/** An answer to half a request never comes. */
const PATIENCE_MS = 2_000

/** All that is answered until the connection ends; nothing where it was only cut. */
export function answeredBy(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(request, 'latin1'))
    socket.on('data', (chunk) => {
      text += chunk
      // Not before: the gateway gives up the answers of a caller that says it has ended.
      socket.end()
    })
    socket.setTimeout(PATIENCE_MS, () => socket.end())
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
}

export const firstLineOf = (answer: string): string => answer.split('\r\n')[0] ?? ''

/** Where the gateway listens, from now on. */
export async function portOf({ app }: Target): Promise<number> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  const at = app.server.address()
  return typeof at === 'object' && at !== null ? at.port : 0
}
