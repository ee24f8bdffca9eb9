import { expect, test } from 'vitest'
import { freePort } from '../../gateway/testing/free-port.ts'
import { startStream } from './till.ts'

test('a stream that is finished twice ends once', async () => {
  const port = await freePort()
  const server = await startStream(port)
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  server.finish()
  server.finish()
  expect(await answer.text()).toBe('data: first\n\ndata: second\n\n')
  await server.close()
})
