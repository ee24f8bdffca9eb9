/** A page that is offline says so in a notice. */
import { expect, it } from 'vitest'
import type { FlowEvent } from './events.ts'
import { confirming, play } from './test-states.ts'

const connection = (online: boolean): FlowEvent => ({ kind: 'connectionChanged', online })
const FAILED: FlowEvent = { kind: 'paymentFailed', refusal: { code: null, detail: null } }

it('the return of the connection is announced once', () => {
  expect(play(confirming(), connection(true)).effects).toEqual([])
  const back = play(confirming(), ...[false, false, true, true].map(connection))
  expect(back.state.online).toBe(true)
  expect(back.effects.map(({ kind }) => kind)).toEqual(['removeToast', 'toast'])
  expect(play(confirming(), connection(false)).state.online).toBe(false)
})

it('calls that fail while the page is offline show no error, but those that fail afterwards do', () => {
  const offline = play(confirming(), connection(false), FAILED, FAILED)
  expect(offline.effects.map(({ kind }) => kind)).toEqual(['removeToast'])
  expect(play(offline.state, connection(true), FAILED).effects).toContainEqual({
    kind: 'toast',
    toast: { text: 'depositFailed', detail: null },
  })
})
