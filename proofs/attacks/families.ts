/** The table of families: those of the suite, those that other tests hold, and those that nothing here holds yet. */
import type { Family } from './attack.ts'
import { amounts, massAssignment, prototypes, sizes, texts, twice } from './families/bodies.ts'
import { bodyTypes, csrfToken, methods, origins } from './families/cross-site.ts'
import { expressions } from './families/expressions.ts'
import { faults } from './families/faults.ts'
import { hosts } from './families/hosts.ts'
import { ITEM_FAMILIES } from './families/items.ts'
import { network } from './families/network.ts'
import { PAGE_FAMILIES } from './families/pages.ts'
import { payouts } from './families/payouts.ts'
import { pictures } from './families/pictures.ts'
import { prices } from './families/prices.ts'
import { redirects } from './families/redirects.ts'
import { canaries, forgedLines, formulas, sealed } from './families/secrets.ts'
import { settings } from './families/settings.ts'
import { smuggling } from './families/sockets.ts'
import { TENANT_FAMILIES } from './families/tenants.ts'
import { links } from './families/trade-links.ts'
import { webhooks } from './families/webhooks.ts'

export const FAMILIES: readonly Family[] = [
  csrfToken,
  bodyTypes,
  origins,
  methods,
  redirects,
  amounts,
  massAssignment,
  prototypes,
  twice,
  sizes,
  texts,
  ...PAGE_FAMILIES,
  hosts,
  ...TENANT_FAMILIES,
  links,
  network,
  smuggling,
  canaries,
  forgedLines,
  sealed,
  formulas,
  faults,
  payouts,
  pictures,
  expressions,
  prices,
  settings,
  webhooks,
  ...ITEM_FAMILIES,
].toSorted((a, b) => a.number - b.number)

type Named = { number: number; name: string; where: string }

/** Held by tests that stand elsewhere; no defence of theirs is switched off here. */
export const ELSEWHERE: readonly Named[] = [
  { number: 8, name: 'violations of the policy of the page', where: 'e2e/support/browser.ts' },
  { number: 14, name: 'signatures of unlike values that collide', where: 'proofs/bugs' },
  { number: 21, name: 'races', where: 'gateway/store-api/idempotency.test.ts' },
  { number: 23, name: 'steps left out', where: 'e2e/page-calls.test.ts' },
  { number: 25, name: 'slow connections', where: 'gateway/http/connections.test.ts' },
  { number: 29, name: 'SQL in texts', where: 'proofs/store/requests.test.ts' },
  { number: 38, name: 'postMessage', where: 'architecture.test.ts' },
  { number: 41, name: 'packages', where: 'scripts/supply-chain.test.ts' },
  { number: 43, name: 'open calls', where: 'gateway/http/connections.test.ts' },
  { number: 46, name: 'webhooks to the till itself', where: 'gateway/webhooks/sender.test.ts' },
  { number: 48, name: 'clicks through an overlay', where: 'e2e/hostile.test.ts' },
]

type Open = { number: number; name: string; missing: string }

export const OPEN: readonly Open[] = [
  { number: 40, name: 'timing of the comparison of keys', missing: 'a measurement of times' },
]
