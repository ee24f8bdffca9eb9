import { closeSync, openSync } from 'node:fs'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { publishEvents } from '../events/service.ts'
import { runCommand, spawnCommand } from '../testing/command.ts'
import { aDeposit, jump, startTill, type Till } from '../testing/till.ts'
import { cancelDeposit } from '../trades/cancellation.ts'
import { freshStoreLines, updatedStoreLines } from './store-lines.ts'

let till: Till

beforeAll(async () => {
  till = await startTill()
})
afterAll(() => till.close())

const run = (...args: string[]) => runCommand(args, { databaseUrl: till.url })

/** Returns the eight characters after `tt_test_`. */
const keyIdOf = (apiKey: string): string => apiKey.slice(8, 16)

const ADD = ['store', 'add', '--name', 'Ember', '--origin', 'https://store.test']

it('a store is added and shown, and gets more keys; each secret is shown once', async () => {
  const added = await run(
    ...ADD,
    '--webhook-url',
    'http://localhost:1/hook',
    '--liability',
    'store',
    '--accent',
    '#3366CC',
    '--json',
  )
  const { apiKey, webhookSecret, storeId } = JSON.parse(added.out)
  const key = await run('key', 'add', '--store', storeId, '--name', 'reader', '--scope', 'deposits:read')
  expect(key.out).toMatch(/^tt_test_/)
  const rotated = await run('key', 'rotate', keyIdOf(key.out), '--overlap-hours', '2')
  expect(rotated.out).toMatch(/^tt_test_/)
  expect((await run('key', 'revoke', keyIdOf(apiKey), '--reason', 'lost')).out).toContain('no longer works')
  const shown = await run('store', 'show', storeId)
  expect(shown.out).toMatch(/at risk 0\.00 USD of 0\.00 USD\n.*borne by the store/)
  expect(shown.out).toMatch(/accent +#3366cc/)
  expect(shown.out).toMatch(/"first key".*never used, revoked/)
  expect(shown.out).toMatch(/"reader" deposits:read, never used, ends/)
  expect(shown.out).toMatch(/endpoint 1 +enabled http:\/\/localhost:1\/hook/)
  for (const secret of [apiKey, webhookSecret, key.out, rotated.out]) {
    // Looks for the secret part only, because the prefix and the id of a key are shown.
    expect(shown.out).not.toContain(secret.trim().slice('tt_test_12345678_'.length))
  }
})

it('a key that does not fit on the disk ends the command with code 1, because it is shown only once', async () => {
  const { storeId } = JSON.parse((await run(...ADD, '--json')).out)
  // Every write to /dev/full fails for lack of space.
  const stdout = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(stdout))
  const add = ['key', 'add', '--store', storeId, '--name', 'lost', '--json']
  const { errors, code } = await spawnCommand(add, { databaseUrl: till.url, stdout })
  expect([code, JSON.parse(errors || 'null')]).toEqual([
    1,
    {
      error: {
        kind: 'failed',
        message: expect.stringMatching(
          /^The command was carried out, but its answer could not be written: ENOSPC/,
        ),
      },
    },
  ])
  expect((await run('key', 'list', '--store', storeId)).out).toContain('lost')
})

it('store add and store update print the command that tests webhooks if they set a webhook URL, and not otherwise', async () => {
  const sandboxTest = (id: string) => `trigger --store ${id} deposit.succeeded`
  const hook = ['--webhook-url', 'http://localhost:1/hook']
  expect((await run(...ADD)).out).not.toContain('test and')
  const added = await run(...ADD, ...hook)
  const [, storeId = ''] = /^Store (\d+) created/.exec(added.out) ?? []
  expect(added.out).toContain(sandboxTest(storeId))
  const update = ['store', 'update', '--store', storeId]
  expect((await run(...update, '--name', 'Other')).out).not.toContain('test and')
  const updated = await run(...update, '--webhook-url', 'http://localhost:2/hook')
  expect(updated.out).toMatch(new RegExp(`see the answer: .*${sandboxTest(storeId)}\n$`))
  const fresh = { storeId: 1n, mode: 'live', webhookSecret: 'whsec_secret' } as const
  const liveTest = /see the answer: .*doctor --send-webhooks$/
  expect(freshStoreLines({ ...fresh, apiKey: 'a key' }).at(-1)).toMatch(liveTest)
  expect(updatedStoreLines(fresh, { webhookUrl: 'https://store.example/hook' }).at(-1)).toMatch(liveTest)
})

it('store update takes --store, or its old name --id, which other commands refuse', async () => {
  const storeId: string = JSON.parse((await run(...ADD, '--json')).out).storeId
  for (const option of [['--store', storeId], ['--id', storeId], [`--id=${storeId}`]]) {
    const name = `Ember ${option.join()}`
    expect(await run('store', 'update', ...option, '--name', name)).toMatchObject({ code: 0, errors: '' })
    expect((await run('store', 'show', storeId)).out).toContain(name)
  }
  expect(await run('key', 'list', '--id', storeId)).toMatchObject({ code: 2 })
})

it('a deposit is shown as a timeline, without its full link', async () => {
  const added = await run(...ADD, '--json')
  const storeId: string = JSON.parse(added.out).storeId
  const id = BigInt(storeId)
  const deposit = await aDeposit(till, { id })
  await cancelDeposit(till.deps, id, deposit.id)
  await publishEvents(till.deps)
  const { out } = await run('deposit', 'show', String(deposit.id))
  expect(out).toMatch(
    new RegExp(
      `opened by store ${storeId} as top-up \\d+, USD.*\\n.*cancelled by the store\\n.*event 1: deposit\\.payment_timeout`,
    ),
  )
  expect(out).not.toContain(deposit.hash)
})

const PAYOUT = ['payout', 'record', '--currency', 'USD', '--reference', 'a', '--reason', 'x'] as const

it.each([
  ['without an origin', ['store', 'add', '--name', 'x'], '--origin is required', 2],
  [
    'with an origin that has a path',
    [...ADD, '--origin', 'https://x.test/a'],
    'origins of the form https:',
    2,
  ],
  [
    'with a wrong liability',
    [...ADD, '--liability', 'nobody'],
    '--liability must be one of operator, store.',
    2,
  ],
  ['with a colour given by name', [...ADD, '--accent', 'tomato'], 'The accent must be a colour such as', 2],
  ['for an unknown store', ['store', 'show', '9'], 'There is no store 9.', 3],
  ['for an unknown key', ['key', 'rotate', 'abcdefgh'], 'There is no active key', 3],
  [
    'with an unknown scope',
    ['key', 'add', '--store', '1', '--name', 'x', '--scope', 'all'],
    '--scope must be one of',
    2,
  ],
  [
    'for a payout without a reference',
    ['payout', 'record', '--store', '1', '--currency', 'USD', '--amount', '5.00', '--reason', 'x'],
    '--reference is required',
    2,
  ],
  [
    'for a payout above the balance',
    [...PAYOUT, '--store', '1', '--amount', '5.00'],
    'Nothing was recorded: the store has 0.00 USD available.',
    4,
  ],
  [
    'for a payout to an unknown store',
    [...PAYOUT, '--store', '9', '--amount', '5.00'],
    'There is no store 9.',
    3,
  ],
  ['for a payout of zero', [...PAYOUT, '--store', '1', '--amount', '0.00'], 'must be above zero', 2],
  ...['5', '5.0', '5.000', '-5.00', '5,00', '1e2', ''].map(
    (amount) =>
      [
        `for a payout of "${amount}"`,
        [...PAYOUT, '--store', '1', '--amount', amount],
        '--amount',
        2,
      ] as const,
  ),
  ['for an unknown deposit', ['deposit', 'show', '77'], 'There is no deposit 77.', 3],
] as const)('a command %s is refused with its exit code and reason', async (_what, args, reason, code) => {
  const answer = await run(...args)
  expect(answer.code).toBe(code)
  expect(answer.errors).toContain(reason)
})

it('a key reads and writes deposits by default; its expiry and a month without use are shown', async () => {
  const { storeId } = JSON.parse((await run(...ADD, '--json')).out)
  const addKey = ['key', 'add', '--store', storeId, '--name']
  await run(...addKey, 'seasonal', '--expires', '40d')
  await run(...addKey, 'books', '--scope', 'balance:read', '--scope', 'webhooks:manage')
  const keys = async () =>
    (await run('store', 'show', storeId)).out.split('\n').filter((line) => /key /.test(line))
  expect((await keys()).map((line) => line.replace(/^.*key +\w+ /, ''))).toEqual([
    '"first key" deposits:read deposits:write, never used',
    expect.stringMatching(/^"seasonal" deposits:read deposits:write, never used, ends \S+$/),
    '"books" balance:read webhooks:manage, never used',
  ])
  await jump(till, 30 * 86_400)
  expect((await keys()).map((line) => line.replace(/^.*write, |^.*manage, /, ''))).toEqual([
    'never used (30 days without use: revoke it?)',
    expect.stringMatching(/^never used \(30 days without use: revoke it\?\), ends \S+ \(soon\)$/),
    'never used (30 days without use: revoke it?)',
  ])
  await jump(till, 11 * 86_400)
  expect((await keys())[1]).toMatch(/never used, ends \S+$/)
  for (const expires of ['90', '0d', '-1d', '3651d', 'never']) {
    const answer = await run(...addKey, 'x', '--expires', expires)
    expect([answer.code, answer.errors]).toEqual([
      2,
      expect.stringContaining('must be a duration such as 90d'),
    ])
  }
})
