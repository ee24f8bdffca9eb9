/** Runs `deploy/alerts.mjs` as a process, and sends it alerts as the till does. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { alertSender, sendTestAlert } from '../gateway/alerts/service.ts'
import { systemClock } from '../gateway/kit/clock.ts'
import { freePort } from '../gateway/testing/free-port.ts'

const PROGRAM = join(import.meta.dirname, '../deploy/alerts.mjs')
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

let folder: string
let url: string
let receiver: ChildProcess

const settings = (change: Record<string, string> = {}) => ({
  PATH: process.env.PATH,
  TRADETILL_ALERT_URL: url,
  TRADETILL_ALERT_SECRET: SECRET,
  // Fails while the file `fails` exists.
  ALERT_COMMAND: `env > ${folder}/env; cat >> ${folder}/received; test ! -e ${folder}/fails`,
  ...change,
})

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-alerts-'))
  url = `http://127.0.0.1:${await freePort()}/`
  receiver = spawn(process.execPath, [PROGRAM], { env: settings(), stdio: ['ignore', 'pipe', 'inherit'] })
  const { stdout } = receiver
  if (stdout === null) throw new Error('the receiver has no output')
  await new Promise((resolve) => createInterface({ input: stdout }).once('line', resolve))
})
afterAll(async () => {
  const ended = new Promise((resolve) => receiver.once('close', resolve))
  receiver.kill()
  await ended
  rmSync(folder, { recursive: true })
})

const deps = {
  clock: systemClock,
  uuid: () => crypto.randomUUID(),
  send: alertSender('live'),
  consoleUrl: 'https://ops.test',
}

it('the receiver pipes an alert’s text and the console’s address to the command, and passes on no till setting', async () => {
  expect(await sendTestAlert(deps, { url, secret: SECRET })).toMatchObject({ status: 204 })
  expect(readFileSync(join(folder, 'received'), 'utf8')).toMatch(
    /^This is a test: .*\nhttps:\/\/ops\.test\n$/,
  )
  const names = readFileSync(join(folder, 'env'), 'utf8').match(/^\w+(?==)/gm)
  // The shell adds these four itself.
  expect(names?.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name)).sort()).toEqual([
    'ALERT_COMMAND',
    'PATH',
  ])
})

it('the receiver refuses an alert signed with another secret, an old alert, and a call that is not a POST', async () => {
  const before = readFileSync(join(folder, 'received'), 'utf8')
  const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
  expect(await sendTestAlert(deps, { url, secret: otherSecret })).toMatchObject({ status: 401 })
  const anHourBehind = { now: systemClock.now, machineNow: () => new Date(Date.now() - 3_600_000) }
  expect(await sendTestAlert({ ...deps, clock: anHourBehind }, { url, secret: SECRET })).toMatchObject({
    status: 401,
  })
  expect((await fetch(url)).status).toBe(405)
  expect(readFileSync(join(folder, 'received'), 'utf8')).toBe(before)
})

it('the receiver answers 502 if the command fails, so the till repeats the alert', async () => {
  expect(spawnSync('touch', [join(folder, 'fails')]).status).toBe(0)
  expect(await sendTestAlert(deps, { url, secret: SECRET })).toMatchObject({ status: 502 })
  rmSync(join(folder, 'fails'))
})

it.each([
  [
    'the address of another machine',
    { TRADETILL_ALERT_URL: 'https://alerts.example/' },
    'TRADETILL_ALERT_URL',
  ],
  ['no secret', { TRADETILL_ALERT_SECRET: '' }, 'TRADETILL_ALERT_SECRET'],
  ['no command', { ALERT_COMMAND: '' }, 'ALERT_COMMAND'],
])('the receiver does not start with %s', (_, change, expected) => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM], {
    env: settings(change),
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(expected) })
})
