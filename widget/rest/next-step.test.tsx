import { expect, it } from 'vitest'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Flow } from '../flow/runner.ts'
import { openedOn, payment } from '../flow/test-states.ts'
import { pageTexts } from '../i18n/page.ts'
import { restTexts } from '../i18n/rest.ts'
import { STEAM_PAGES } from '../steam-pages.ts'
import { markup } from '../test-markup.tsx'
import { NextStep } from './next-step.tsx'

const en = { ...pageTexts.en, ...restTexts.en }

const FLOW: Flow = {
  state: () => openedOn('created'),
  dispatch: () => {},
  subscribe: () => () => {},
}

it.each<[ErrorCode | null, string]>([
  ['steam_unavailable', `>${en.retry}</button>`],
  ['too_many_looks', `>${en.retry}</button>`],
  [null, `>${en.retry}</button>`],
  ['user_not_found', `href="${STEAM_PAGES.tradeSettings}"`],
  ['other_shopper', `href="${STEAM_PAGES.tradeSettings}"`],
  ['trade_in_progress', `>${en.offerReturn}</button>`],
  ['shopper_refused', 'href="https://store.example/"'],
  ['deposit_closed', 'href="https://store.example/"'],
  ['cross_site_token', `>${en.reloadPage}</button>`],
])('under a link refused with %s there is one button, which leads to the solution', (code, step) => {
  const refusal = { code, detail: null }
  const html = markup(<NextStep refusal={refusal} payment={payment()} flow={FLOW} />)
  expect(html).toContain(step)
  expect(html.match(/<(?:a|button)\b/g)).toHaveLength(1)
})
