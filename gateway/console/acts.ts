/** The acts of the console, each named like the command that does the same. Only `proposal approve` has no command. */
import { z } from 'zod'
import { GAMES } from '../../contract/games.ts'
import {
  MOST_KEPT_ITEMS,
  MOST_KEY_OVERLAP_HOURS,
  MOST_SECRET_OVERLAP_HOURS,
  MOST_SEQUENCE,
} from '../../contract/limits.ts'
import { MICROS_PER_CENT } from '../../contract/money.ts'
import { SCOPES } from '../../contract/scopes.ts'
import { CENTS_PER_DOLLAR, parseAmount, parsePercent } from '../operations/amount.ts'
import { pauseBot, removeBot, resumeBot, retireBot } from '../operations/bots.ts'
import { explainDeparture } from '../operations/departures.ts'
import { holdDeposit } from '../operations/deposits.ts'
import { lookForDrift } from '../operations/drift.ts'
import { releaseDeposit } from '../operations/early-release.ts'
import { addKey, revokeKey, rotateKey } from '../operations/keys.ts'
import { switchMaintenanceOff, switchMaintenanceOn } from '../operations/maintenance.ts'
import { switchMarket } from '../operations/markets.ts'
import { recordPayout, voidPayout } from '../operations/payouts.ts'
import { blockPrice, freezePrice, overridePrice, releasePrice } from '../operations/prices.ts'
import { approveProposal, changeApprovalLimit, declineProposal } from '../operations/proposals.ts'
import { setBotsArmed } from '../operations/restore.ts'
import { freeRoom } from '../operations/room.ts'
import { allowShopper, denyShopper, eraseShopper, trustShopper } from '../operations/shoppers.ts'
import { creditStore, debitStore, writeOffStore } from '../operations/store-books.ts'
import { addStore, changeStore, disableStore, enableStore } from '../operations/stores.ts'
import { creditTrade, endTrade, lookAtTrade, releaseTrade, reverseTrade } from '../operations/trades.ts'
import { allowWebhookAddress, forbidWebhookAddress } from '../operations/webhook-addresses.ts'
import { removeWebhook, replayWebhooks, rotateWebhookSecret } from '../operations/webhooks.ts'
import { changeSendRule, returnItems, sendItems, withdraw } from '../operations/wishes.ts'
import { type Call, seriousAct, supportAct } from './call.ts'
import { currency, id, nothing, steamId, text, time } from './input.ts'

const bot = z.object({ bot: text(20) })
/** `item`: null for the whole game. */
const priceTarget = z.object({ game: z.enum(GAMES), item: text().nullable() })
const trade = z.object({ tradeId: id })
const shopper = z.object({ steamId })
const key = text(20)
const store = z.object({ storeId: id })
const address = store.extend({ address: text(300) })
const market = z.object({ market: text(40) })
const proposal = z.object({ proposalId: id })
const hours = (most: number) => z.int().min(0).max(most)
/** Kept as text, as it was typed. */
const wholeDollars = z.string().regex(/^\d{1,9}$/, 'must be whole dollars')
/** A text that `parse` understands, of at most 30 characters. */
const typedAs = <T>(parse: (typed: string) => T | undefined, message: string) =>
  z
    .string()
    .max(30)
    .transform((typed, context) => {
      const value = parse(typed)
      if (value !== undefined) return value
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    })
/** Parses a percentage such as 24.50 into hundredths of a percent. */
const percent = typedAs(parsePercent, 'must be a percentage below 100 with two decimals, such as 24.50')

const SEQUENCE = z.int().min(1).max(MOST_SEQUENCE)
/** Parses an amount such as 850.00 into cents. */
const dollarsAndCents = typedAs(
  (typed) => parseAmount(typed, 'USD'),
  'the amount must have its decimals, such as 850.00',
)

/**
 * A payout, credit, debit or write-off. Parses its typed amount into minor units. `mayOwe`: allows a debit to make the
 * store's balance negative.
 */
const movement = z
  .object({
    storeId: id,
    reference: z.string().max(200),
    currency,
    amount: z.string().max(30),
    mayOwe: z.boolean().default(false),
  })
  .transform(({ amount, ...rest }, context) => {
    const amountMinor = parseAmount(amount, rest.currency)
    if (amountMinor !== undefined) return { ...rest, amountMinor }
    context.addIssue({ code: 'custom', message: 'the amount must have its decimals, such as 1250.00' })
    return z.NEVER
  })

const announcement = z.object({
  text: z.object({ en: text(300).optional(), ru: text(300).optional() }).optional(),
  lasts: text(20).optional(),
  until: time.optional(),
})

const origins = z.array(text()).max(20)
const riskLimitUsd = wholeDollars.transform((dollars) => BigInt(dollars))
const terms = {
  webhookUrl: text(2_000).optional(),
  accent: text(7).nullable().optional(),
  creditMode: z.enum(['on_accept', 'on_release']).optional(),
  liability: z.enum(['operator', 'store']).optional(),
}
const newStore = z.object({
  ...terms,
  name: text(),
  origins,
  riskLimitUsd,
  scopes: z.array(z.enum(SCOPES)).min(1).optional(),
})
/** Strict: the page of an earlier version would otherwise change only the settings whose names are still the same. */
const storeChange = z.strictObject({
  ...terms,
  storeId: id,
  name: text().optional(),
  origins: origins.optional(),
  riskLimitUsd: riskLimitUsd.optional(),
  commission: percent.nullable().optional(),
  games: z.array(z.enum(GAMES)).nullable().optional(),
})

export const ACTS: Record<string, Call> = {
  'bot pause': supportAct(bot, (deps, input) => pauseBot(deps, input.bot)),
  'bot resume': supportAct(bot, (deps, input) => resumeBot(deps, input.bot)),
  'bot retire': seriousAct(bot, (deps, input) => retireBot(deps, input.bot)),
  'bot remove': seriousAct(bot, (deps, input) => removeBot(deps, input.bot)),
  'bot arm': seriousAct(nothing, (deps) => setBotsArmed(deps, true)),
  'bot disarm': seriousAct(nothing, (deps) => setBotsArmed(deps, false)),
  'deposit hold': seriousAct(z.object({ depositId: id }), (deps, { depositId }) =>
    holdDeposit(deps, depositId),
  ),
  'deposit release': seriousAct(z.object({ depositId: id }), (deps, { depositId }) =>
    releaseDeposit(deps, { depositId }),
  ),
  'trade look': supportAct(trade, (deps, { tradeId }) => lookAtTrade(deps, tradeId)),
  'trade end': seriousAct(trade, (deps, { tradeId }) => endTrade(deps, tradeId)),
  'trade credit': seriousAct(
    trade.extend({ steamTradeId: text(20), offerId: text(20).nullable() }),
    creditTrade,
  ),
  'trade release': seriousAct(trade, (deps, { tradeId }) => releaseTrade(deps, tradeId)),
  'trade reverse': seriousAct(trade, (deps, { tradeId }) => reverseTrade(deps, tradeId)),
  'payout record': seriousAct(movement, (deps, { amountMinor: amount, ...payout }) =>
    recordPayout(deps, { ...payout, amount }),
  ),
  'payout void': seriousAct(z.object({ payoutId: id }), (deps, { payoutId }) => voidPayout(deps, payoutId)),
  'store add': seriousAct(newStore, (deps, { riskLimitUsd, ...added }) =>
    addStore(deps, { ...added, riskLimitUsdCents: riskLimitUsd * CENTS_PER_DOLLAR }),
  ),
  'store update': seriousAct(storeChange, (deps, { riskLimitUsd, commission, ...changes }) =>
    changeStore(deps, {
      ...changes,
      commissionBps: commission,
      riskLimitUsdCents: riskLimitUsd && riskLimitUsd * CENTS_PER_DOLLAR,
    }),
  ),
  'store disable': seriousAct(store, (deps, { storeId }) => disableStore(deps, storeId)),
  'store enable': seriousAct(store, (deps, { storeId }) => enableStore(deps, storeId)),
  'store credit': seriousAct(movement, creditStore),
  'store debit': seriousAct(movement, debitStore),
  'store write-off': seriousAct(movement, writeOffStore),
  'store free-room': seriousAct(store, (deps, { storeId }) => freeRoom(deps, storeId)),
  'store allow-address': seriousAct(address.extend({ inside: z.boolean() }), allowWebhookAddress),
  'store forbid-address': seriousAct(address, forbidWebhookAddress),
  'key add': seriousAct(
    z.object({
      storeId: id,
      name: text(80),
      scopes: z.array(z.enum(SCOPES)).min(1),
      expires: text(20).optional(),
    }),
    (deps, { expires, ...rest }) => addKey(deps, { ...rest, expires }),
  ),
  'key rotate': seriousAct(z.object({ keyId: key, overlapHours: hours(MOST_KEY_OVERLAP_HOURS) }), rotateKey),
  'key revoke': seriousAct(z.object({ keyId: key }), (deps, { keyId }) => revokeKey(deps, keyId)),
  'price block': supportAct(priceTarget, blockPrice),
  'price freeze': supportAct(priceTarget, freezePrice),
  'price release': supportAct(priceTarget, releasePrice),
  'price override': seriousAct(
    z.object({ game: z.enum(GAMES), item: text(), usd: dollarsAndCents }),
    (deps, { game, item, usd: usdCents }) =>
      overridePrice(deps, { game, item, usdMicros: usdCents * MICROS_PER_CENT }),
  ),
  'market off': supportAct(market, (deps, input) => switchMarket(deps, { ...input, isOff: true })),
  'market on': supportAct(market, (deps, input) => switchMarket(deps, { ...input, isOff: false })),
  'maintenance on': supportAct(announcement, switchMaintenanceOn),
  'maintenance off': supportAct(nothing, (deps) => switchMaintenanceOff(deps)),
  'shopper deny': supportAct(shopper, (deps, input) => denyShopper(deps, input.steamId)),
  'shopper allow': supportAct(shopper, (deps, input) => allowShopper(deps, input.steamId)),
  'shopper erase': seriousAct(shopper, (deps, input) => eraseShopper(deps, input.steamId)),
  'shopper trust': seriousAct(shopper, (deps, input) => trustShopper(deps, input.steamId)),
  'webhook replay': supportAct(
    z
      .object({ endpointId: id, fromSequence: SEQUENCE, toSequence: SEQUENCE })
      .refine(
        ({ fromSequence: from, toSequence: to }) => from <= to,
        'give a range from the smaller to the larger number',
      ),
    replayWebhooks,
  ),
  'webhook rotate': seriousAct(
    z.object({ endpointId: id, overlapHours: hours(MOST_SECRET_OVERLAP_HOURS) }),
    rotateWebhookSecret,
  ),
  'webhook remove': seriousAct(z.object({ endpointId: id }), removeWebhook),
  'items send': seriousAct(
    z.object({ to: text(40), bot: text(20).optional(), assets: z.array(text(30)).max(500).optional() }),
    (deps, { assets, ...rest }) => sendItems(deps, { ...rest, assets }),
  ),
  'items return': seriousAct(z.object({ depositId: id }), (deps, { depositId }) =>
    returnItems(deps, depositId),
  ),
  'items unwish': seriousAct(z.object({ wishId: id }), (deps, { wishId }) => withdraw(deps, wishId)),
  'items rule': seriousAct(
    z.object({ keep: z.int().min(0).max(MOST_KEPT_ITEMS).optional(), to: text(40).optional() }),
    (deps, { keep, to = '' }) =>
      changeSendRule(deps, keep === undefined ? undefined : { destination: to, keep }),
  ),
  'items explain': seriousAct(z.object({ departureId: id }), (deps, { departureId }) =>
    explainDeparture(deps, departureId),
  ),
  'items drift': supportAct(z.object({ bot: text(20) }), (deps, input) => lookForDrift(deps, input.bot)),
  'proposal approve': seriousAct(proposal, (deps, { proposalId }) => approveProposal(deps, proposalId)),
  'proposal decline': seriousAct(proposal, (deps, { proposalId }) => declineProposal(deps, proposalId)),
  'proposal limit': seriousAct(z.object({ dollars: wholeDollars.nullable() }), (deps, { dollars }) =>
    changeApprovalLimit(deps, {
      aboveUsdMinor: dollars === null ? null : BigInt(dollars) * CENTS_PER_DOLLAR,
    }),
  ),
}
