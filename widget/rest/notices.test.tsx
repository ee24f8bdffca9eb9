import { describe, expect, it } from 'vitest'
import type { Flow } from '../flow/runner.ts'
import type { FlowState } from '../flow/state.ts'
import { confirming, loaded, openedOn, play } from '../flow/test-states.ts'
import { restTexts } from '../i18n/rest.ts'
import { markup } from '../test-markup.tsx'
import { Notices } from './notices.tsx'

const text = (state: FlowState, language: 'en' | 'ru'): string => {
  const flow: Flow = { state: () => state, dispatch: () => {}, subscribe: () => () => {} }
  const html = markup(<Notices state={state} flow={flow} />, language)
  return html.replace(/<[^>]+>/g, ' ').replace(/[ \u00a0]+/g, ' ')
}

describe.each(['en', 'ru'] as const)('during maintenance, in %s', (language) => {
  const texts = restTexts[language]

  it('the page of an open deposit says that the timer is stopped', () => {
    const paused = openedOn('created', { technicalWorks: true, timeLeft: null })
    expect(text(paused, language)).toContain(texts.technicalWorksOnPage)
  })

  it('the page of an open offer whose dialog was closed shows its running time, and does not call it stopped', () => {
    const closed = play(confirming(), { kind: 'confirmationLeft' }).state
    const paused = play(closed, loaded({ status: 'pending', technicalWorks: true, timeLeft: 300 })).state
    const shown = text(paused, language)
    expect(shown).toContain(texts.offerTimeLeft('').trim())
    expect(shown).toContain(texts.technicalWorks)
    expect(shown).not.toContain(texts.technicalWorksOnPage)
  })
})
