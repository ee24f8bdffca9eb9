import { createWishes, type FreeItem, freeItems } from '../departures/wish.ts'
import {
  type ListedWish,
  readSendRule,
  type SendRule,
  selectWishes,
  setSendRule,
  tradeOfDeposit,
  type WishFilter,
  withdrawWish,
} from '../departures/wish-store.ts'
import { counted } from '../kit/counted.ts'
import { keysetPage } from '../kit/keyset-page.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused, unchanged } from './operation.ts'

export type NewWishes = { wishes: bigint[]; items: number }

export type SendRequest = {
  to: string
  bot?: string | undefined
  /** Asset ids at the bots; undefined means all free items. */
  assets: readonly string[] | undefined
}

const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/
const INVALID_NAME = refused(
  'usage',
  'A destination’s name has up to 40 lower-case letters, digits and hyphens, and does not begin with a hyphen.',
)

export function sendItems(deps: ActDeps, { to, bot, assets }: SendRequest): Promise<Answer<NewWishes>> {
  const namedAct = { name: 'items send', argumentsOf: (made: NewWishes) => ({ ...made, to }) }
  return act(deps, namedAct, async (tx) => {
    if (!NAME.test(to)) return INVALID_NAME
    const free = await freeItems(tx, bot)
    const chosen = assets === undefined ? free : free.filter(({ assetId }) => assets.includes(assetId))
    const missing = assets?.filter((asset) => !chosen.some(({ assetId }) => assetId === asset)) ?? []
    if (missing.length > 0) {
      return refused('conflict', `Not free, or in an open wish already: ${missing.slice(0, 20).join(', ')}.`)
    }
    if (chosen.length === 0) return refused('conflict', 'There are no free items to send.')
    const wishes = await createWishes(tx, chosen, { askedBy: 'operator', ask: { kind: 'send', to } })
    return done(
      { wishes, items: chosen.length },
      `${requestedText(chosen, wishes)} The vault decides whether to send them.`,
    )
  })
}

const requestedText = (items: readonly FreeItem[], wishes: readonly bigint[]): string =>
  `${counted(items.length, 'item')} requested from the vault: ${wishes.map((wish) => `wish ${wish}`).join(', ')}.`

/** Asks the vault to return items to a deposit's shopper: the free ones of the trade that delivered last. */
export function returnItems(deps: ActDeps, depositId: bigint): Promise<Answer<NewWishes>> {
  const namedAct = {
    name: 'items return',
    needsReason: true,
    argumentsOf: (made: NewWishes) => ({ ...made, depositId }),
  }
  return act(deps, namedAct, async (tx) => {
    const trade = await tradeOfDeposit(tx, depositId)
    if (trade === undefined || trade.steamTradeId === null)
      return refused('not_found', `No items were received for deposit ${depositId}.`)
    const chosen = (await freeItems(tx)).filter(
      ({ item, botId }) => item.startsWith(`${trade.id}-`) && botId === trade.botId,
    )
    if (chosen.length === 0) {
      const why =
        'Items are not free while they are protected, on sale, in an open wish or in a Steam trade, without a known asset id, or once they are gone.'
      return refused('conflict', `No item of deposit ${depositId} is free. ${why}`)
    }
    const ask = { kind: 'return', depositId, steamTradeId: trade.steamTradeId } as const
    const wishes = await createWishes(tx, chosen, { askedBy: 'operator', ask })
    return done(
      { wishes, items: chosen.length },
      `${requestedText(chosen, wishes)} Approve them at the vault.`,
    )
  })
}

/** `next`: the filter's `before` for the next page; null on the last. `rule`: for automatic sending; null if off. */
export type WishPage = { wishes: ListedWish[]; next: bigint | null; rule: SendRule | null }

/** Lists wishes, newest first. */
export async function listWishes({ db }: FindDeps, filter: WishFilter): Promise<Answer<WishPage>> {
  const { rows: wishes, next } = await keysetPage(filter, (page) => selectWishes(db, page), 'wishId')
  return done({ wishes, next, rule: (await readSendRule(db)) ?? null })
}

export function withdraw(deps: ActDeps, wishId: bigint): Promise<Answer<{ wishId: bigint }>> {
  return act(deps, { name: 'items unwish', argumentsOf: (view: { wishId: bigint }) => view }, async (tx) =>
    (await withdrawWish(tx, wishId))
      ? done({ wishId }, `Wish ${wishId} is withdrawn.`)
      : refused('conflict', `Wish ${wishId} is not open, or the vault has taken it up.`),
  )
}

export type RuleView = { rule: SendRule | null }

/**
 * Changes the rule that asks the vault to send items while a bot has more than `keep` free ones. Undefined ends the
 * rule.
 */
export function changeSendRule(deps: ActDeps, rule: SendRule | undefined): Promise<Answer<RuleView>> {
  const namedAct = { name: 'items rule', argumentsOf: (view: RuleView) => view }
  return act(deps, namedAct, async (tx) => {
    if (rule !== undefined && !NAME.test(rule.destination)) return INVALID_NAME
    const before = await readSendRule(tx)
    const view = { rule: rule ?? null }
    if (before?.destination === rule?.destination && before?.keep === rule?.keep)
      return unchanged(view, 'Nothing changed: the rule is the same.')
    await setSendRule(tx, rule)
    const message =
      rule === undefined
        ? 'No items are sent automatically.'
        : `The vault is asked to send the oldest items to ${rule.destination} while a bot has more than ${counted(rule.keep, 'free item')}.`
    return done(view, message)
  })
}
