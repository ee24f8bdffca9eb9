/** An operator's command, run as the operator does: a process of its own. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const MAIN = join(import.meta.dirname, '../cli/main.ts')
/** What seals in these tests. */
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

type Options = { databaseUrl: string; env?: Record<string, string>; input?: string }

export async function runCommand(
  args: readonly string[],
  { databaseUrl, env = {}, input = '' }: Options,
): Promise<{ out: string; errors: string; code: number | null }> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { DATABASE_URL: databaseUrl, TRADETILL_MASTER_KEY: MASTER_KEY, ...env },
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.stdin.end(input)
  const [out, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { out, errors, code }
}
