import { expect, it } from 'vitest'

/**
 * What a Steam must do to count as one: every request that the client libraries make, and every behaviour and failure
 * that was seen or told of. Each row has a test of its name, in the file of its group.
 */
export const ROWS = {
  requests: [
    'login 1: finalizelogin',
    'login 2: settoken on every host',
    'enrol: password and code of the authenticator',
    'MobileApp token: renewed over HTTP, refused for tokens of the website',
    'JWT: three parts, sub, aud with derive, exp',
    'trade page (escrow)',
    'escrow, JSON alternative',
    'create',
    'cancel',
    'accept and decline on the side of the shopper',
    'list',
    'one offer',
    'offer object',
    'new asset ids',
    'inventory',
    'avatar and name',
    'level',
    'descriptions',
    'trade protection notice',
  ],
  happy: [
    'inventory of 0 items',
    'inventory of 1 item',
    'inventory of 2,500 items in pages of 1,000',
    'untradable items',
    'accept: the old asset id leaves, a new one appears',
  ],
  ends: [
    'Declined',
    'Countered, with a new received offer',
    'Expired',
    'Canceled by us',
    'InvalidItems, with missing items',
    'InEscrow, for 15 days',
    'NeedsConfirmation, as the bot gives items',
    'EscrowRollback 11',
    'reversal 12',
    'reversal 12 with one item marked',
    'protection told late, of another game',
    'Accepted first without a trade id',
    'GetTradeStatus empty for a while',
    'late change of state',
    'accept racing cancel',
  ],
  sends: [
    '(15) bad token',
    '(26) item gone',
    '(16) with creation',
    '(16) without creation',
    '(2)',
    '(11)',
    '(20)',
    '(25)',
    '(28)',
    'trade ban',
    'new device 7 days',
    'target cannot trade',
    'limited account',
    'private inventory',
    'too many offers',
    'item server down',
    'inventory full',
    '401',
    '302',
    '429',
    '503 HTML',
    '200 null',
    '200 HTML',
    '200 {}',
    'hang before processing',
    'hang after processing',
    'drop before processing',
    'drop after processing',
    'trade protection not acknowledged',
    '(10) (24) (29) (34) (50) (55) (84)',
    'Steam Guard for less than 15 days',
  ],
  reads: [
    '401 Access is denied',
    '403 Access is denied',
    '429',
    '500',
    '502',
    'x-eresult 15',
    'x-eresult 2 with data',
    'x-eresult 2 without data',
    '{}',
    'null',
    'all offers without items',
    'some offers without items',
    'item without classid',
    'several cursors',
    'nine days of 1,000 exchanges in pages',
    'an offer in a state that nobody knows',
    'hang',
  ],
  inventories: [
    '403 null',
    '429 null',
    '429 HTML',
    '400 for too large a count',
    '500 error (20)',
    'success: false',
    'null',
    'HTML',
    'no assets',
    'slow',
    'page 2 failing',
  ],
  logins: [
    '{error: 15}',
    'revoked',
    'expired',
    'hang',
    'one settoken host failing',
    'InvalidPassword 5',
    'TwoFactorCodeMismatch 88',
    'RateLimitExceeded 84',
  ],
  pages: [
    'invalid trade URL',
    'escrow 15',
    'private inventory text',
    'limited account text',
    'trade ban text',
    'login redirect',
    'missing g_daysTheirEscrow',
  ],
  faults: [
    'match on host and path',
    'times',
    'status, body, headers',
    'before and after: hang, drop',
    'mutated answer',
    'control API outside the hosts of Steam',
    'strict audience',
  ],
} as const

type Group = keyof typeof ROWS

/** Tests of one group: each bears the name of a row, and `complete` fails for the rows that no test has named. */
export function rowsOf<G extends Group>(group: G) {
  const named = new Set<string>()
  return {
    row(name: (typeof ROWS)[G][number], test: () => Promise<void> | void) {
      named.add(name)
      it(name, test)
    },
    complete() {
      it('every row has its test', () => {
        expect(ROWS[group].filter((name) => !named.has(name))).toEqual([])
      })
    },
  }
}
