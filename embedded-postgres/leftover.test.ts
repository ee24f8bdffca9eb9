/** The supervisor alone, with a fake PostgreSQL, after another supervisor was killed. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

/**
 * The PostgreSQL that the killed supervisor left running. It prints every signal. At the first, it leaves the cluster's
 * folder, as if its process number had been reused.
 */
const LEFTOVER = `
  for (const name of ['SIGINT', 'SIGQUIT', 'SIGTERM']) process.on(name, () => {
    console.log(name)
    process.chdir('/')
    if (name === 'SIGTERM') process.exit()
  })
  setInterval(() => {}, 60_000)
  console.error('listens')`

/** The PostgreSQL that the new supervisor starts. */
const NEW_POSTGRES = '#!/bin/sh\necho "database system is ready to accept connections" >&2\nexec sleep 600\n'

const ended = (child: ChildProcessByStdio<null, Readable | null, Readable | null>): Promise<unknown> =>
  child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve()

test('a start signals neither a process that has left the cluster’s folder nor another program in that folder', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tradetill-leftover-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [cluster, newPostgres] = [join(folder, 'cluster'), join(folder, 'new-postgres')]
  mkdirSync(cluster)
  writeFileSync(newPostgres, NEW_POSTGRES)
  chmodSync(newPostgres, 0o755)
  symlinkSync(process.execPath, join(folder, 'postgres'))
  const leftover = spawn(join(folder, 'postgres'), ['-e', LEFTOVER], {
    cwd: cluster,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void leftover.kill('SIGKILL'))
  const signals = text(leftover.stdout)
  await once(leftover.stderr, 'data')
  writeFileSync(join(cluster, 'postmaster.pid'), `${leftover.pid}\n`)
  // Stays in the cluster, like an operator's shell.
  const visitor = spawn('sleep', ['600'], { cwd: cluster, stdio: 'ignore' })
  onTestFinished(() => void visitor.kill())

  const args = ['--postgres', newPostgres, '--cluster', cluster, '--port', '1']
  const supervisor = spawn(process.execPath, [join(import.meta.dirname, 'supervisor.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const supervisorEnded = once(supervisor, 'exit')
  const [answer] = await once(createInterface({ input: supervisor.stdout }), 'line')
  supervisor.stdin.end()
  await supervisorEnded

  expect(answer).toBe('ready')
  leftover.kill('SIGTERM')
  await ended(leftover)
  expect(leftover.signalCode).toBeNull()
  expect(await signals).not.toContain('SIGQUIT')
  expect(visitor.signalCode).toBeNull()
})
