/** Sends requests as bytes, because client libraries would not send bad ones. */
import { connect } from 'node:net'
import type { Target } from './target.ts'

/** How long to wait for an answer. An incomplete request gets none. */
const PATIENCE_MS = 2_000

/** Resolves to the entire answer once the connection has ended; empty if none came. */
export function answerTo(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(request, 'latin1'))
    socket.on('data', (chunk) => {
      text += chunk
      // Ends only after an answer, because the gateway drops answers to a caller that has ended its side.
      socket.end()
    })
    socket.setTimeout(PATIENCE_MS, () => socket.end())
    // 'close' follows every error.
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
}

export const firstLineOf = (answer: string): string => answer.split('\r\n')[0] ?? ''

/** Makes the gateway listen, and resolves to its port. */
export async function portOf({ app }: Target): Promise<number> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  const at = app.server.address()
  return typeof at === 'object' && at !== null ? at.port : 0
}
