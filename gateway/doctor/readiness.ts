/** Prices, bots and stores: whether a shopper could pay right now. Pure checks. */

import type { Game } from '../../contract/games.ts'
import { percentOf } from '../../contract/money.ts'
import { tokenEnd } from '../bots/token-end.ts'
import type { Config } from '../config.ts'
import { HOUR_MS } from '../kit/duration.ts'
import { RATES_SOURCE } from '../pricing/exchange.ts'
import { FILE_SOURCE } from '../pricing/price.ts'
import { unsafeCommissionOf } from '../pricing/settings.ts'
import { withoutQuery } from '../webhooks/url.ts'
import { ageText, type Finding, good, mend, notChecked } from './finding.ts'

/** A feed is faulty if its last good answer is older than this. */
const MOST_ANSWER_AGE_MS = 6 * HOUR_MS
/** Exchange rates are faulty if the newest one is older than this. */
const MOST_RATE_AGE_MS = 48 * HOUR_MS

export type Feed = { source: string; feed: string; goodAt: Date | null; lastError: string | null }
/** `asOf`: time of the rate; null if no source gave one within a month. */
export type NewestRate = { currency: string; asOf: Date | null }
/** `all`: names with a price. `fresh`: those whose price is recent enough; other rules can still refuse it. */
export type Coverage = { game: Game; fresh: number; all: number }

type Prices = {
  feeds: readonly Feed[]
  rates: readonly NewestRate[]
  coverage: readonly Coverage[]
  now: Date
}

export function priceFindings({ feeds, rates, coverage, now }: Prices): Finding[] {
  const feedFindings = feeds.map(({ source, feed, goodAt, lastError }) => {
    const check = `prices.${source}.${feed}`
    if (goodAt === null && lastError === null)
      return notChecked(check, 'is waiting for its turn: the feeds of a source are read one after another')
    if (goodAt === null) {
      const why = `has never answered: ${lastError}`
      return mend(check, why, adviceForSilentSource(source))
    }
    const ageMs = now.getTime() - goodAt.getTime()
    if (ageMs <= MOST_ANSWER_AGE_MS) return good(check, `answered ${ageText(ageMs)} ago`)
    const why = lastError === null ? '' : `: ${lastError}`
    return mend(
      check,
      `answered ${ageText(ageMs)} ago${why}`,
      'run tradetill price list, and check that a gateway runs',
    )
  })
  const noFeedFinding = mend(
    'prices',
    'no source has been read yet',
    'start a gateway, and set TRADETILL_PRICE_SOURCES',
  )
  const gameFindings = coverage.map(({ game, fresh, all }) =>
    fresh > 0
      ? good(`prices.of.${game}`, `${fresh} of ${all} names have a recent price`)
      : mend(
          `prices.of.${game}`,
          'no name has a recent price',
          'wait for a source, or run tradetill price list to see why',
        ),
  )
  return [
    ...(feeds.length === 0 ? [noFeedFinding] : feedFindings),
    ...gameFindings,
    ...rates.map((rate) => rateFinding(rate, now)),
  ]
}

/**
 * Advice for a source that never answered. TRADETILL_PRICE_SOURCES lists each source by its name, but the source of
 * exchange rates as `rates`.
 */
function adviceForSilentSource(source: string): string {
  if (source === FILE_SOURCE) return 'fix the file that TRADETILL_PRICES_FILE names'
  const listedName = source === RATES_SOURCE ? 'rates' : source
  return `check that the gateway can reach it, or take ${listedName} out of TRADETILL_PRICE_SOURCES and restart the gateway`
}

function rateFinding({ currency, asOf }: NewestRate, now: Date): Finding {
  const check = `rates.${currency}`
  const advice =
    'check that the gateway can reach the sources "rates" and "ecb" (TRADETILL_PRICE_SOURCES), ' +
    'or put exchange rates into TRADETILL_PRICES_FILE'
  if (asOf === null) return mend(check, 'there is no exchange rate', advice)
  const ageMs = now.getTime() - asOf.getTime()
  const says = `the newest exchange rate is ${ageText(Math.max(ageMs, 0))} old`
  return ageMs <= MOST_RATE_AGE_MS ? good(check, says) : mend(check, says, advice)
}

export type ExaminedBot = {
  botId: bigint
  name: string
  level: number
  state: string
  reachable: boolean
  hasGateway: boolean
  /** The next login after Steam refused the token; null if Steam does not refuse it. */
  loginAfter: Date | null
  tokenExpiresAt: Date | null
  bars: readonly { scope: string; reason: string; until: Date }[]
  /** Whether Steam's notice about trade protection is acknowledged. Until then, offers get stuck. */
  noticeAcknowledged: boolean
}

export function botFindings(bots: readonly ExaminedBot[], now: Date): Finding[] {
  if (bots.length === 0) return [mend('bots', 'there is no bot', 'tradetill bot enrol')]
  return bots.map((bot) => botFinding(bot, now))
}

function botFinding(bot: ExaminedBot, now: Date): Finding {
  const [check, who] = [`bots.${bot.botId}`, `${bot.name} (level ${bot.level})`]
  const [bar] = bot.bars
  if (bot.state === 'dead')
    return mend(check, `${who}: Steam refuses its token`, `tradetill bot renew ${bot.botId}`)
  if (bot.state !== 'active') return notChecked(check, `${who} is ${bot.state}`)
  if (bot.loginAfter !== null) {
    const says = `${who}: Steam refuses its token, which is tried again at ${bot.loginAfter.toISOString()}`
    return mend(check, says, `tradetill bot renew ${bot.botId}, if Steam refuses it again`)
  }
  if (!bot.hasGateway) {
    const advice = 'start a gateway, or raise TRADETILL_MAX_BOTS'
    return mend(check, `${who}: no gateway holds it`, advice)
  }
  if (!bot.reachable)
    return mend(check, `${who} is offline`, 'run tradetill bot list, which shows the reason')
  if (bar?.reason === 'own_hold') {
    const advice = 'turn on the mobile authenticator of the account, and wait 7 days'
    return mend(check, `${who}: Steam would hold the bot’s side of a trade`, advice)
  }
  if (bar !== undefined) {
    const says = `${who} rests until ${bar.until.toISOString()}: ${bar.reason}`
    const remedy = 'see the table of refusals under "Bots" in docs/operating.md'
    return mend(check, says, `${remedy}; once the cause is removed: tradetill bot resume ${bot.botId}`)
  }
  if (!bot.noticeAcknowledged) {
    const advice = `run tradetill bot renew ${bot.botId}, which acknowledges it`
    return mend(check, `${who}: Steam's notice about trade protection is not acknowledged`, advice)
  }
  return tokenFinding(bot, { check, who }, now)
}

function tokenFinding(
  { botId, tokenExpiresAt }: ExaminedBot,
  { check, who }: { check: string; who: string },
  now: Date,
) {
  if (tokenExpiresAt === null) return good(check, `${who} is online, its token does not expire`)
  const leftMs = tokenExpiresAt.getTime() - now.getTime()
  const end = leftMs > 0 ? `expires in ${ageText(leftMs)}` : 'has expired'
  const says = `${who} is online, its token ${end}`
  if (tokenEnd(tokenExpiresAt, now) === 'far') return good(check, says)
  return mend(check, says, `tradetill bot renew ${botId}`)
}

export type StoreState = {
  storeId: bigint
  name: string
  /** A disabled store opens no deposits, so the till needs nothing of its webhooks. `endpoints` is then empty. */
  isDisabled: boolean
  endpoints: readonly {
    endpointId: bigint
    state: string
    url: string
    /** Undefined if no test was due: without --send-webhooks, or if the endpoint is not enabled. */
    answer: WebhookAnswer | undefined
  }[]
}

/** Result of a test of an endpoint. `sealed`: not sent, because no master key of the settings opens its secret. */
export type WebhookAnswer = TestAnswer | { kind: 'sealed' }

export type TestAnswer =
  | { kind: 'answered'; status: number }
  | { kind: 'failed'; reason: string }
  /** Not sent, because its turn came after more than a minute. */
  | { kind: 'left_out' }

export function storeFindings(stores: readonly StoreState[]): Finding[] {
  if (stores.length === 0) return [mend('stores', 'there is no store', 'tradetill store add')]
  return stores.flatMap(({ storeId, name, isDisabled, endpoints }) => {
    const check = `stores.${storeId}`
    if (isDisabled) return [notChecked(check, `${name} is disabled`)]
    if (endpoints.length === 0) {
      const advice = `tradetill store update --store ${storeId} --webhook-url URL, unless it reads the event log`
      return [mend(check, `${name} has no webhook`, advice)]
    }
    return endpoints.map((endpoint) => endpointFinding(`${check}.webhook.${endpoint.endpointId}`, endpoint))
  })
}

type StoreCommission = { id: bigint; name: string; commissionBps: number | null; disabledAt: Date | null }

/**
 * Checks the stores' own commissions again, because the settings may have changed since `store update` checked them.
 * Skips disabled stores, which take no items.
 */
export function commissionFindings(
  stores: readonly StoreCommission[],
  config: Pick<Config, 'priceRules' | 'mayPayAboveLevel'>,
): Finding[] {
  return stores.flatMap(({ id, name, commissionBps, disabledAt }) => {
    const unsafe = disabledAt === null ? unsafeCommissionOf(config, commissionBps) : undefined
    if (unsafe === undefined) return []
    const { games, leastBps, aboveLevel } = unsafe
    return mend(
      `stores.${id}.commission`,
      `${name}: its commission is too small for ${games.join(', ')}, so a pumped price would pay more than the item is worth`,
      `tradetill store update --store ${id} --commission ${percentOf(leastBps)}, or set TRADETILL_PRICE_ABOVE_LEVEL=${aboveLevel.join(',')} if that is intended`,
    )
  })
}

function endpointFinding(
  check: string,
  { endpointId, state, url: address, answer }: StoreState['endpoints'][number],
): Finding {
  const url = withoutQuery(address)
  if (state === 'disabled')
    return mend(check, `${url} is disabled`, 'ask the store to enable it or to remove it')
  if (state === 'pending') {
    return mend(
      check,
      `${url} has not proved itself`,
      'ask the store to answer a test with its data.challenge',
    )
  }
  if (answer?.kind === 'sealed') {
    const says = `${url}: no master key of these settings opens its secret, so it gets no webhooks`
    return mend(
      check,
      says,
      `tradetill webhook rotate ${endpointId} --reason TEXT, and give the store the secret`,
    )
  }
  return testFinding({ check, to: url }, answer, {
    failed:
      'ask the store to answer there, or allow another port or network with tradetill store allow-address',
    refused: 'ask the store to answer 2xx, even to types that it ignores',
  })
}

/** `answer`: undefined if no test was sent. `advice`: for a receiver that did not answer, and for one that refused. */
export function testFinding(
  { check, to }: { check: string; to: string },
  answer: TestAnswer | undefined,
  advice: { failed: string; refused: string },
): Finding {
  if (answer === undefined) return notChecked(check, `${to}: doctor --send-webhooks sends a test`)
  if (answer.kind === 'left_out')
    return notChecked(check, `${to}: not tested, because the tests took more than a minute`)
  if (answer.kind === 'failed') return mend(check, `${to} did not answer: ${answer.reason}`, advice.failed)
  if (answer.status >= 200 && answer.status < 300) return good(check, `${to} accepted a test`)
  return mend(check, `${to} answered a test with ${answer.status}`, advice.refused)
}
