/** The tools of the tour's scenes: a shopper of the demo store, and control of the Steam sandbox and its clock. */
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { Payment } from '../contract/widget-api.ts'
import { callerOf, type Shopper } from './shopper-calls.ts'

export type TourSetup = {
  urls: { gateway: string; sandbox: string; store: string; console: string }
  /** The store's key, to read the store's events. */
  apiKey: string
  /** Kills the gateway as a crash would, and starts another. Resolves when it has ended; `ready`: the other is ready. */
  killGateway(): Promise<{ ready: Promise<void> }>
}

const DEADLINE_MS = 10_000
const CHECK_EVERY_MS = 200
const MOST_CHECKS = 600
/** A scene pays with the cheapest items of at least this price, so the store's risk limit lasts for many scenes. */
const LEAST_MINOR = 500

/** A new Steam account of the sandbox, made for one top-up. */
const accountSchema = z.object({ steamId: z.string(), tradeUrl: z.string() })
const botSchema = z.object({ name: z.string(), steamId: z.string() })
type Bot = z.infer<typeof botSchema>
const problemSchema = z.object({ detail: z.string() })
const reversalSchema = z.object({ reversedAmount: z.number() })

type Account = z.infer<typeof accountSchema>

/** A deposit whose offer is open. */
export type OpenOffer = { shopper: Shopper; account: Account; offerId: string; amount: number; bot: string }

type TopUp = { items?: number; isHeld?: boolean }

export type Stage = ReturnType<typeof createStage>

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export function createStage({ urls, apiKey, killGateway }: TourSetup) {
  const memory: { held?: OpenOffer | undefined } = {}
  const sandbox = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${urls.sandbox}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(DEADLINE_MS),
    })
    if (!answer.ok) throw new Error(`the sandbox answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  const advance = (hours: number): Promise<unknown> =>
    sandbox('POST', '/control/clock', { advanceS: hours * 3_600 })
  return {
    urls,
    killGateway,
    /** `held`: the last offer whose credit is held until Steam's protection ends. */
    memory,
    sandbox,
    advance,
    /**
     * Returns the bot that the till chooses if it can choose any: the one with the highest level, the sandbox's last
     * bot.
     */
    async firstChoice(): Promise<Bot> {
      const bot = z
        .array(botSchema)
        .parse(await sandbox('GET', '/control/bots'))
        .at(-1)
      if (bot === undefined) throw new Error('the sandbox has no bot')
      return bot
    },
    accept: (offerId: string) => sandbox('POST', `/control/offers/${offerId}/accept`),
    /** Makes a top-up in the demo store with a new Steam account, up to the open offer. */
    async topUp({ items = 1, isHeld = false }: TopUp = {}): Promise<OpenOffer> {
      const account = accountSchema.parse(await sandbox('POST', '/control/players', { like: 'quiet_lynx' }))
      const shopper = await openInStore(urls, isHeld)
      await requireSuccess(shopper.post('/api/trade-url', { tradeUrl: account.tradeUrl }))
      const choice = { game: 'cs', items: await pickItems(shopper, items) }
      await requireSuccess(shopper.post('/api/trade', choice))
      // In the page's API, `steamTradeId` is the number of the offer.
      const { steamTradeId, bot, amount } = await until(
        shopper,
        (payment) => payment.status === 'pending' && payment.steamTradeId !== null,
      )
      return { shopper, account, offerId: steamTradeId ?? '', amount: amount ?? 0, bot: bot?.name ?? '' }
    },
    until,
    untilReversed: (id: string) =>
      eventually(async () => {
        const answer = await fetch(`${urls.gateway}/v1/deposits/${id}`, {
          headers: { authorization: `Bearer ${apiKey}` },
          signal: AbortSignal.timeout(DEADLINE_MS),
        })
        const deposit = reversalSchema.parse(await answer.json())
        return deposit.reversedAmount > 0 ? deposit : undefined
      }, 'the till noticed no reversal'),
  }
}

/** Presses the store's own button, without a browser. */
async function openInStore(urls: TourSetup['urls'], isHeld: boolean): Promise<Shopper> {
  const response = await fetch(`${urls.store}/top-ups`, {
    method: 'POST',
    body: new URLSearchParams({ currency: 'USD', language: 'en', ...(isHeld ? { hold: 'on' } : {}) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(DEADLINE_MS),
  })
  const url = response.headers.get('location') ?? ''
  const hash = /[0-9a-f]{32}$/.exec(url)?.[0]
  if (hash === undefined) throw new Error(`the store opened no deposit (${response.status})`)
  return callerOf(urls.gateway, { id: '', url, hash })
}

/** Returns the cheapest items of at least `LEAST_MINOR`. */
async function pickItems(shopper: Shopper, count: number): Promise<string[]> {
  const { items } = await shopper.inventory()
  const picked = items
    .filter(({ price }) => price >= LEAST_MINOR)
    .sort((one, other) => one.price - other.price)
    .slice(0, count)
  if (picked.length < count) throw new Error('the account has too few items to pay with')
  return picked.map(({ id }) => id)
}

async function requireSuccess(answer: Promise<Response>): Promise<void> {
  const response = await answer
  if (response.ok) return
  const problem = problemSchema.safeParse(await response.json())
  throw new Error(problem.success ? problem.data.detail : `the till answered ${response.status}`)
}

function until(shopper: Shopper, isExpected: (payment: Payment) => boolean): Promise<Payment> {
  return eventually(async () => {
    const payment = await shopper.payment()
    return isExpected(payment) ? payment : undefined
  }, 'the deposit did not reach the expected state')
}

/** Repeats `check` until it has a result. Like a page, it also waits while the till is down. */
async function eventually<T>(check: () => Promise<T | undefined>, otherwise: string): Promise<T> {
  let problem = ''
  for (let checks = 0; checks < MOST_CHECKS; checks += 1) {
    try {
      const found = await check()
      if (found !== undefined) return found
    } catch (error) {
      problem = ` (${reasonOf(error)})`
    }
    await delay(CHECK_EVERY_MS)
  }
  throw new Error(`${otherwise}${problem}`)
}
