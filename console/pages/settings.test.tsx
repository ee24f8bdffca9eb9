import { expect, it } from 'vitest'
import { byText } from './settings.tsx'

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
