import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

const HERE = import.meta.dirname
const HASH = '0123456789abcdef0123456789abcdef'

test.each([
  ['that is thrown', `setImmediate(() => { throw new Error('about ${HASH}') })`],
  ['of a rejected promise', `void Promise.reject(new Error('about ${HASH}'))`],
])('an unhandled error %s ends the process with one scrubbed log line', async (_what, failing) => {
  const code = `
    import { createLog } from '${join(HERE, 'log.ts')}'
    import { endOnUnhandled } from '${join(HERE, 'unhandled.ts')}'
    endOnUnhandled(createLog())
    ${failing}
    setInterval(() => {}, 1_000)`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], { stdio: 'pipe' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const output = await text(child.stderr)
  expect(await ended).toBe(1)
  expect(output.trimEnd().split('\n')).toHaveLength(1)
  expect(JSON.parse(output)).toMatchObject({ level: 'fatal' })
  expect(output).toContain('about 012345…')
  expect(output).not.toContain(HASH)
})
