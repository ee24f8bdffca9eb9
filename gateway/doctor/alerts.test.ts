import { afterEach, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../config.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { alertFindings } from './alerts.ts'
import { examine } from './doctor.ts'

let receiver: Receiver
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(() => receiver.close())

/** Runs the whole doctor. Its database does not answer, which does not concern the alerts. */
async function alertsFinding({ sends, url = receiver.url }: { sends: boolean; url?: string }) {
  const env = {
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    TRADETILL_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    TRADETILL_PUBLIC_URL: 'http://127.0.0.1:9',
    TRADETILL_ALERT_URL: `${url}?token=secret`,
    TRADETILL_ALERT_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  }
  const answer = await examine({ settings: readConfig(env), sendsWebhooks: sends })
  if (answer.kind === 'unchanged' || answer.data === undefined) throw new Error('there is no report')
  return answer.data.findings.find(({ check }) => check === 'alerts')
}

it('the doctor reports that the receiver accepted a test, without the path and query of its address, which may be secret', async () => {
  expect(await alertsFinding({ sends: true })).toEqual({
    check: 'alerts',
    state: 'good',
    says: `${new URL(receiver.url).origin} accepted a test`,
    advice: null,
  })
  expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual(['operator.test'])
})

it('the doctor advises how to fix a receiver that refuses a test or does not answer', async () => {
  receiver.answers.push(status(401))
  expect(await alertsFinding({ sends: true })).toMatchObject({
    state: 'mend',
    says: expect.stringContaining('answered a test with 401'),
    advice: expect.stringContaining('TRADETILL_ALERT_SECRET'),
  })
  expect(await alertsFinding({ sends: true, url: 'http://127.0.0.1:9/' })).toMatchObject({
    state: 'mend',
    says: expect.stringContaining('did not answer: '),
    advice: expect.stringContaining('start the receiver'),
  })
})

it('the doctor sends no test unless asked to, and without an address reports that the till sends no alerts', async () => {
  expect(await alertsFinding({ sends: false })).toMatchObject({
    state: 'not_checked',
    says: expect.stringContaining('--send-webhooks'),
  })
  expect(receiver.received).toEqual([])
  expect(alertFindings(undefined, undefined)).toMatchObject([
    { state: 'not_checked', says: expect.stringContaining('the till sends no alerts') },
  ])
})
