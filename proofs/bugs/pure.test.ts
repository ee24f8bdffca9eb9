/** Checks, without a till, that bugs of other projects are absent here. docs/bugs-of-others.md lists the bugs. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { CURRENCIES } from '../../contract/money.ts'
import { repeat } from '../../gateway/kit/repeat.ts'
import { captureLog } from '../../gateway/testing/log.ts'
import { fc, test } from '../../gateway/testing/property.ts'
import { signWebhook } from '../../gateway/webhooks/signature.ts'

it('bug 38: no burst of work follows a stall of the event loop', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let running = 0
  let most = 0
  let turns = 0
  const work = async () => {
    running += 1
    most = Math.max(most, running)
    turns += 1
    await Promise.resolve()
    running -= 1
  }
  const repeated = repeat({ name: 'stalled', everyMs: 10, log: captureLog().log }, work)
  await vi.advanceTimersByTimeAsync(20)
  expect(turns).toBe(3)
  // Fifty turns become due at once, and no promise settles between them.
  vi.advanceTimersByTime(500)
  await vi.advanceTimersByTimeAsync(0)
  expect(turns).toBe(4)
  await vi.advanceTimersByTimeAsync(10)
  expect(turns).toBe(5)
  await repeated.stop()
  expect(most).toBe(1)
})

it('bug 19: every currency of the till has two decimal digits, as the till’s minor units assume', () => {
  for (const currency of CURRENCIES) {
    const { maximumFractionDigits } = new Intl.NumberFormat('en', {
      style: 'currency',
      currency,
    }).resolvedOptions()
    expect(maximumFractionDigits).toBe(2)
  }
})

const messages = fc.record({
  id: fc.uuid(),
  body: fc.string({ maxLength: 12 }),
  at: fc.integer({ min: 1, max: 99_999 }).map((seconds) => new Date(seconds * 1_000)),
})

test.prop([messages, messages])(
  'bug 24: two different messages never have the same signature',
  (one, other) => {
    const secret = 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE='
    const signed = (message: typeof one) => signWebhook([secret], message)['webhook-signature']
    const isSame = one.id === other.id && one.body === other.body && one.at.getTime() === other.at.getTime()
    expect(signed(one) === signed(other)).toBe(isSame)
    // Moving a zero across the boundary of two fields makes a different message too.
    const moved = { ...one, at: new Date(one.at.getTime() * 10) }
    expect(signed(moved)).not.toBe(signed({ ...one, body: `0${one.body}` }))
  },
)
