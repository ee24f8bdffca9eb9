/** The table of families: those of this suite, and those that other tests cover. */
import type { Family } from './attack.ts'
import { approvals } from './families/approvals.ts'
import { amounts, massAssignment, prototypes, repeatedParameters, sizes, texts } from './families/bodies.ts'
import { consoleCalls } from './families/console.ts'
import { bodyTypes, csrfToken, methods, origins } from './families/cross-site.ts'
import { embedding } from './families/embed.ts'
import { expressions } from './families/expressions.ts'
import { faults } from './families/faults.ts'
import { firstPaint } from './families/first-paint.ts'
import { greetings } from './families/greetings.ts'
import { hosts } from './families/hosts.ts'
import { ITEM_FAMILIES } from './families/items.ts'
import { keyTiming } from './families/key-timing.ts'
import { network } from './families/network.ts'
import { PAGE_FAMILIES } from './families/pages.ts'
import { passkeys } from './families/passkeys.ts'
import { payouts } from './families/payouts.ts'
import { pictures } from './families/pictures.ts'
import { prices } from './families/prices.ts'
import { redirects } from './families/redirects.ts'
import { searches } from './families/searches.ts'
import { copiedDatabase, forgedLines, formulas, loggedSecrets } from './families/secrets.ts'
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
  repeatedParameters,
  sizes,
  texts,
  ...PAGE_FAMILIES,
  hosts,
  ...TENANT_FAMILIES,
  links,
  network,
  smuggling,
  loggedSecrets,
  forgedLines,
  copiedDatabase,
  formulas,
  faults,
  payouts,
  pictures,
  expressions,
  prices,
  settings,
  webhooks,
  ...ITEM_FAMILIES,
  keyTiming,
  consoleCalls,
  passkeys,
  approvals,
  embedding,
  firstPaint,
  searches,
  greetings,
].toSorted((a, b) => a.number - b.number)

type CoveredElsewhere = { number: number; name: string; where: string; why: string }

/** Families that other tests cover. `why`: the reason why their defences are not switched off here. */
export const ELSEWHERE: readonly CoveredElsewhere[] = [
  {
    number: 8,
    name: 'violations of the content security policy',
    where: 'e2e/support/browser.ts',
    why: 'the browser enforces the policy; family 7 weakens it',
  },
  {
    number: 14,
    name: 'colliding signatures of different values',
    where: 'proofs/bugs',
    why: 'a library signs; family 13 removes the check of a signature',
  },
  {
    number: 21,
    name: 'races',
    where: 'gateway/store-api/idempotency.test.ts',
    why: 'row locks prevent them; `npm run prove -- defects` plants a credit by two watchers',
  },
  {
    number: 23,
    name: 'skipped steps',
    where: 'e2e/page-calls.test.ts',
    why: 'the page shows a step only when the till says so',
  },
  {
    number: 25,
    name: 'slow connections',
    where: 'gateway/http/connections.test.ts',
    why: 'its test waits on real sockets; each defence is one deadline',
  },
  {
    number: 29,
    name: 'SQL in texts',
    where: 'proofs/store/requests.test.ts',
    why: 'values never become SQL, so there is no line to remove',
  },
  {
    number: 38,
    name: 'postMessage',
    where: 'architecture.test.ts',
    why: 'a rule over the sources: only one file of the pages may use it',
  },
  { number: 41, name: 'packages', where: 'scripts/supply-chain.test.ts', why: 'a rule over the lock file' },
  {
    number: 43,
    name: 'open calls',
    where: 'gateway/http/connections.test.ts',
    why: 'its test opens real sockets; each defence is one limit',
  },
  {
    number: 46,
    name: 'webhooks to the till itself',
    where: 'gateway/webhooks/sender.test.ts',
    why: 'family 12 removes the check of addresses',
  },
  {
    number: 48,
    name: 'clicks through an overlay',
    where: 'e2e/hostile.test.ts',
    why: 'only a browser shows it; families 6 and 56 let others frame the page',
  },
  {
    number: 60,
    name: 'a till that lies to its vault',
    where: 'vault/attacker.test.ts',
    why: 'a separate process; each of its cases names the rule that stops it',
  },
]
