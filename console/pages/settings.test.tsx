import { expect, it } from 'vitest'
import { byText } from './settings.tsx'

it.each([
  ['a proposal of a console session', 'nina', 'nina', 'nina'],
  ['a proposal from the command line', 'root', null, 'root (name not verified)'],
  [
    'a proposal from the command line that nina backs',
    'root',
    'nina',
    'root (name not verified), backed by nina',
  ],
])('%s names who made it, and whether that name was verified', (_what, proposedBy, backedBy, text) => {
  expect(byText({ proposedBy, backedBy })).toBe(text)
})
