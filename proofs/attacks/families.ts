/** The table of families: those of the suite, those that other tests hold, and those that nothing here holds yet. */
import type { Family } from './attack.ts'
import { amounts, massAssignment, prototypes, sizes, texts, twice } from './families/bodies.ts'
import { bodyTypes, csrfToken, methods, origins } from './families/cross-site.ts'
import { PAGE_FAMILIES } from './families/pages.ts'
import { redirects } from './families/redirects.ts'

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
]

type Named = { number: number; name: string; where: string }

/** Held by tests that stand elsewhere; no defence of theirs is switched off here. */
export const ELSEWHERE: readonly Named[] = [
  { number: 8, name: 'violations of the policy of the page', where: 'e2e/support' },
  { number: 9, name: 'pictures from elsewhere', where: 'gateway/steam/web/reads.test.ts' },
  { number: 12, name: 'webhooks into the network', where: 'gateway/webhooks/sender.test.ts' },
  { number: 13, name: 'replayed and changed webhooks', where: 'demo-store/store.test.ts' },
  { number: 14, name: 'signatures of unlike values that collide', where: 'proofs/bugs' },
  { number: 19, name: 'ids of others', where: 'proofs/store/requests.test.ts' },
  { number: 20, name: 'guessed links', where: 'gateway/http/misses.test.ts' },
  { number: 21, name: 'races', where: 'gateway/store-api/idempotency.test.ts' },
  { number: 22, name: 'idempotency keys of others', where: 'gateway/store-api/idempotency.test.ts' },
  { number: 23, name: 'steps left out', where: 'e2e/page-calls.test.ts' },
  { number: 24, name: 'limits avoided', where: 'gateway/http/limits.test.ts' },
  { number: 25, name: 'slow connections', where: 'gateway/http/connections.test.ts' },
  { number: 28, name: 'slow expressions', where: 'architecture.test.ts' },
  { number: 29, name: 'SQL in texts', where: 'proofs/store/requests.test.ts' },
  { number: 33, name: 'errors that tell too much', where: 'gateway/http/app.test.ts' },
  { number: 34, name: 'secrets in the log', where: 'gateway/kit/log.test.ts' },
  { number: 35, name: 'forged lines of the log', where: 'gateway/kit/log.test.ts' },
  { number: 37, name: 'trade links', where: 'contract/trade-link.test.ts' },
  { number: 41, name: 'packages', where: 'scripts/supply-chain.test.ts' },
  { number: 42, name: 'a copied database', where: 'gateway/kit/secret-box.test.ts' },
  { number: 43, name: 'open calls', where: 'gateway/http/connections.test.ts' },
  { number: 44, name: 'forged answers of Steam', where: 'gateway/trades/proof.test.ts' },
  { number: 45, name: 'look-alike items', where: 'gateway/inventory/described.test.ts' },
  { number: 46, name: 'webhooks to the till itself', where: 'gateway/webhooks/sender.test.ts' },
]

type Open = { number: number; name: string; missing: string }

export const OPEN: readonly Open[] = [
  { number: 27, name: 'request smuggling', missing: 'no cases yet' },
  { number: 38, name: 'postMessage', missing: 'no cases yet' },
  { number: 40, name: 'timing of the comparison of keys', missing: 'no measurement of times' },
  { number: 47, name: 'formulas in exports', missing: 'no cases yet' },
  { number: 48, name: 'clicks through an overlay', missing: 'no browser test' },
  { number: 50, name: 'one payout by two operators', missing: 'no race of two commands' },
]
