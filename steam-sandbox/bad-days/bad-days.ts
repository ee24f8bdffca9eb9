import { TIGHT_QUOTAS } from '../quotas.ts'
import { CONFIRMATIONS } from './confirmations.ts'
import { type BadDay, BLOCKED_PAGE, ERROR_PAGE } from './day.ts'
import { INVENTORIES } from './inventories.ts'
import { LOGINS } from './logins.ts'
import { PRICES } from './prices.ts'
import { READS } from './reads.ts'
import { SENDS } from './sends.ts'

const ANY = /./

/** Tuesdays from 13:00 to 17:15 in Los Angeles, when Steam does its maintenance. */
function isMaintenance(nowS: number): boolean {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/Los_Angeles',
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(nowS * 1000)
  const part = (type: string) => parts.find((other) => other.type === type)?.value ?? ''
  const minutes = Number(part('hour')) * 60 + Number(part('minute'))
  return part('weekday') === 'Tue' && minutes >= 13 * 60 && minutes < 17 * 60 + 15
}

const down = { status: 503, body: ERROR_PAGE }

const EVERYWHERE: Record<string, BadDay> = {
  'steam-down': { line: 'Every request gets 503 and an HTML page.', at: ANY, effect: down },
  'steam-down-on-tuesday': {
    line: 'Every request gets 503 on Tuesdays from 13:00 to 17:15 in Los Angeles. Advance the clock to see it.',
    at: ANY,
    when: (_, nowS) => isMaintenance(nowS),
    effect: down,
  },
  slow: { line: 'Every answer takes 4 seconds.', at: ANY, effect: {}, delayMs: 4000 },
  'address-blocked': {
    line: 'Every request gets 403 and the page "Access Denied" of Steam’s network, as for an address that kept asking too often.',
    at: ANY,
    effect: { status: 403, body: BLOCKED_PAGE },
  },
  'rate-limited': {
    line: 'Every request gets 429 and `null`.',
    at: ANY,
    effect: { status: 429, body: null },
  },
  [TIGHT_QUOTAS]: {
    line: 'Every quota allows two requests at once, and one more every ten seconds. Further requests get 429 or, for one method, an empty answer.',
    // Matches no request here, because quotas.ts applies this limit.
    at: /^$/,
    effect: {},
  },
}

export const BAD_DAY_GROUPS: { title: string; days: Record<string, BadDay> }[] = [
  { title: 'Steam as a whole', days: EVERYWHERE },
  { title: 'Sending an offer', days: SENDS },
  { title: 'Offers and trades', days: READS },
  { title: 'Confirmations on the phone of a bot', days: CONFIRMATIONS },
  { title: 'Inventories', days: INVENTORIES },
  { title: 'Market prices', days: PRICES },
  { title: 'Logins, sessions and the trade page', days: LOGINS },
]

/** The behaviours of Steam itself, by name. Those of people are in world/people.ts. */
export const BAD_DAYS: Record<string, BadDay> = {
  ...EVERYWHERE,
  ...SENDS,
  ...READS,
  ...CONFIRMATIONS,
  ...INVENTORIES,
  ...PRICES,
  ...LOGINS,
}
