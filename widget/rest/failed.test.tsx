import { afterEach, expect, it, vi } from 'vitest'
import type { Language } from '../../contract/languages.ts'
import type { Flow } from '../flow/runner.ts'
import type { Refusal } from '../flow/state.ts'
import { openedOn } from '../flow/test-states.ts'
import { restTexts } from '../i18n/rest.ts'
import { markup } from '../test-markup.tsx'
import { LoadFailure } from './failed.tsx'

const { en } = restTexts

const FLOW: Flow = {
  state: () => openedOn('created'),
  dispatch: () => {},
  subscribe: () => () => {},
}

const pageFor = (refusal: Refusal, language?: Language): string =>
  markup(<LoadFailure refusal={refusal} flow={FLOW} />, language)

afterEach(() => vi.unstubAllGlobals())

it.each<[string, Refusal]>([
  ['a server that broke', { code: 'internal', detail: 'x' }],
  ['too many requests', { code: 'too_many_requests', detail: 'x', retryAfterS: 7 }],
  ['a proxy whose server is down', { code: null, detail: null, isFromProxy: true }],
])('the connection is not blamed for %s', (_, refusal) => {
  expect(pageFor(refusal)).toContain(en.paymentBusy)
  expect(pageFor(refusal)).not.toContain('connection')
  expect(pageFor(refusal)).toContain(`>${en.retry}</button>`)
})

it('if the server is unreachable, the page asks the shopper to check the connection', () => {
  expect(pageFor({ code: null, detail: null })).toContain(en.paymentNotLoadedHint)
})

it('at a wrong address without a referrer, the page offers help in its language', () => {
  vi.stubGlobal('document', { referrer: '' })
  expect(pageFor({ code: 'deposit_not_found', detail: 'x' }, 'ru')).toContain('href="/help?language=ru"')
})
