import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createSocket } from './waxpeer-socket.ts'

let server: WebSocketServer

beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
})
afterEach(() => {
  for (const client of server.clients) client.terminate()
  server.close()
})

it('the socket authenticates and pings as soon as it opens', async () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const names: unknown[] = []
  server.on('connection', (opened) => opened.on('message', (raw) => names.push(JSON.parse(String(raw)).name)))
  const socket = createSocket({
    connection: {
      ask: () => Promise.reject(new Error('the socket makes no call')),
      open: () => new WebSocket(`ws://127.0.0.1:${port}`),
    },
    key: 'key',
    steamId: '76561198000000001',
    now: () => new Date(0),
    machineMs: () => 0,
  })
  socket.keepOpen()
  await expect.poll(() => names, { timeout: 60_000 }).toEqual(['auth', 'ping'])
  expect(socket.openings()).toBe(1)
  socket.close()
})
