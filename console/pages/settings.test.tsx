import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Me } from '../me.ts'
import { CommandHint } from '../ui/act.tsx'
import { byText, Decide } from './settings.tsx'

it.each([
  ['a proposal from the console', 'nina', 'nina', 'nina'],
  ['a proposal from the command line', 'root', null, 'root (name not verified)'],
  [
    'a proposal from the command line that nina backs',
    'root',
    'nina',
    'root (name not verified), backed by nina',
  ],
])(
  '%s is shown with the name of the operator who made it, and a warning if that was not verified',
  (_what, proposedBy, backedBy, text) => {
    expect(byText({ proposedBy, backedBy })).toBe(text)
  },
)

it('a session without a passkey gets no button to approve, but is told how to get one', () => {
  const me: Me = { name: 'nina', role: 'operator', mode: 'sandbox', isSandbox: false, isFresh: true }
  const shownTo = (isSandbox: boolean) =>
    renderToStaticMarkup(
      <Me value={{ ...me, isSandbox }}>
        <Decide proposalId="7" act="payout record" refresh={() => {}} />
      </Me>,
    )
  expect(shownTo(false)).toMatch(/Approve<\/button>.*Decline<\/button>/s)
  expect(shownTo(true)).not.toContain('Approve</button>')
  expect(shownTo(true)).toMatch(/sign in with a passkey.*Decline<\/button>/s)
})

it('the form of an act names the command for the act, if there is one', () => {
  expect(renderToStaticMarkup(<CommandHint act="proposal approve" />)).toBe('')
  expect(renderToStaticMarkup(<CommandHint act="proposal decline" />)).toContain('tradetill proposal decline')
})
