import { expect, it } from 'vitest'
import { linkLines } from './operator-lines.ts'

it('an operator’s link is printed with its expiry in the machine’s time, which a sandbox does not advance', () => {
  const endsAt = new Date('2026-11-28T04:10:49Z')
  const [line] = linkLines({
    operatorId: 1n,
    name: 'nina',
    role: 'viewer',
    url: 'http://localhost:4304/',
    endsAt,
  })
  expect(line).toContain("for 10 minutes, until 2026-11-28T04:10:49.000Z by this machine's clock")
})
