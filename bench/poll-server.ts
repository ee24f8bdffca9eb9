/**
 * A separate server process for `poll.ts`: `ours` is the complete gateway as gateway.ts wires it, `floor` a bare server
 * that answers 304. The process answers each message with the CPU time that it has used, in microseconds.
 */
import { createServer } from 'node:http'
import { readConfig } from '../gateway/config.ts'
import { startGateway } from '../gateway/gateway.ts'

const kind = process.argv[2]

async function startFloor(): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(304, { etag: '"unchanged"' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the floor has no port')
  return `http://127.0.0.1:${address.port}`
}

async function startOurs(): Promise<string> {
  const answer = readConfig()
  if (answer.kind === 'refused') throw new Error(answer.problems.join('; '))
  return (await startGateway(answer.config)).url
}

const url = await (kind === 'floor' ? startFloor() : startOurs())
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuUs: user + system })
})
process.on('disconnect', () => process.exit())
process.send?.({ url })
