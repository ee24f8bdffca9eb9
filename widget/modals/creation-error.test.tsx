import { describe, expect, it } from 'vitest'
import type { RefusalCause } from '../../contract/errors.ts'
import type { Flow } from '../flow/runner.ts'
import type { Refusal } from '../flow/state.ts'
import { payment } from '../flow/test-states.ts'
import { en } from '../i18n/en.ts'
import { formatTime } from '../i18n/format.ts'
import { STEAM_PAGES } from '../steam-pages.ts'
import { markup } from '../test-markup.tsx'
import { Completed } from './completed.tsx'
import { CreationError } from './creation-error.tsx'

const FLOW: Flow = {
  state: () => {
    throw new Error('the dialog must not read the state')
  },
  dispatch: () => {},
  subscribe: () => () => {},
}

const STORE = 'https://store.example/'

/** Returns the paragraph, and the target of the primary button. */
function shown(refusal: Partial<Refusal>): { shownText: string | undefined; primary: string | undefined } {
  const completeRefusal = { code: null, detail: null, ...refusal }
  const html = markup(<CreationError refusal={completeRefusal} backToStoreUrl={STORE} flow={FLOW} />)
  return {
    shownText: /<p>(.*?)<\/p>/.exec(html)?.[1],
    primary: /class="button primary" href="([^"]*)"/.exec(html)?.[1],
  }
}

describe('A-025 D-17 the creation error', () => {
  it.each<[RefusalCause, string]>([
    ['link_expired', STEAM_PAGES.tradeSettings],
    ['account_restricted', STEAM_PAGES.restrictions],
    ['trade_ban', STORE],
  ])('gives Steam’s own reason %s, and leads to the solution', (cause, solution) => {
    const shownText = en.creationCauses[cause]
    expect(shown({ code: 'trade_refused', detail: 'no', cause })).toEqual({ shownText, primary: solution })
  })

  it.each([undefined, 'moon_phase'])(
    'A-129 says what may be wrong if its reason is unknown (%s)',
    (cause) => {
      const refusal = { code: 'trade_refused', detail: 'no', ...(cause && { cause }) }
      expect(shown(refusal)).toEqual({ shownText: en.creationErrorText, primary: STEAM_PAGES.restrictions })
    },
  )

  it('has a link back to the store, after its Close button, if no bot is free', () => {
    const refusal = { code: 'no_bot_available', detail: null }
    const html = markup(<CreationError refusal={refusal} backToStoreUrl={STORE} flow={FLOW} />)
    expect(html).toMatch(/class="button primary">Close<.*class="link" href="https:\/\/store\.example\//)
  })

  it('shows the time of the next offer, as the outcome of the last offer does', () => {
    const until = new Date(2026, 10, 26, 12, 1, 30).toISOString()
    const { shownText } = shown({ code: 'offers_paused', detail: 'wait', retryAfterS: 90, until })
    const ended = payment({ status: 'tradeDeclined', nextOfferAt: until })
    const outcome = markup(<Completed outcome="tradeDeclined" hasAlarm={false} payment={ended} />)
    expect(shownText).toBe(en.offersPaused(formatTime(until, 'en')))
    expect(outcome).toContain(en.nextOfferAt(formatTime(until, 'en')))
    expect(shown({ code: 'offers_paused', detail: 'wait' }).shownText).toBe('wait')
  })

  it('uses the server’s words for an unknown code', () => {
    expect(shown({ code: 'moon_phase', detail: 'The moon is not full.' }).shownText).toBe(
      'The moon is not full.',
    )
  })
})
