/** A bot's answer about an inventory, as stored in the row that the asking process waits for. */
import { z } from 'zod'
import type { Game } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import type { InventoryErrorType } from '../../contract/statuses.ts'
import type { BarReason } from '../bots/bar.ts'
import type {
  Partner,
  PartnerAnswer,
  InventoryAnswer as SteamInventory,
  SteamSession,
} from '../steam/steam.ts'

const itemSchema = z.object({
  assetId: z.string(),
  classId: z.string(),
  instanceId: z.string(),
  amount: z.number(),
  name: z.string(),
  marketHashName: z.string(),
  tradable: z.boolean(),
  restriction: z
    .object({ kind: z.enum(['protected', 'held', 'undescribed']), until: z.iso.datetime().nullable() })
    .nullable(),
  market: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('open') }),
    z.object({ kind: z.literal('restricted'), until: z.iso.datetime().nullable() }),
    z.object({ kind: z.literal('closed') }),
  ]),
  /** Whether the item has one of Steam's notes, such as `( Not Usable in Crafting )`. */
  isNoted: z.boolean(),
  tags: z.array(z.object({ category: z.string(), internalName: z.string(), name: z.string().default('') })),
  paintIndex: z.number().nullable().default(null),
})

/** Refused because Steam would hold this partner's items for days. */
type Escrow = { kind: 'refused'; reason: 'escrow' }

type BotAnswer = SteamInventory | Exclude<PartnerAnswer, { kind: 'ok' }> | Escrow

export const storedAnswerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('items'), items: z.array(itemSchema) }),
  z.object({
    kind: z.literal('refused'),
    reason: z.enum(['hidden', 'no_items', 'invalid_token', 'cannot_trade', 'escrow']),
  }),
  z.object({
    kind: z.literal('unavailable'),
    // A later release may store more reasons, and runs beside this one during an update.
    reason: z
      .enum(['timeout', 'rate_limited', 'session_dead', 'steam_error', 'not_our_turn'])
      .catch('steam_error'),
    detail: z.string(),
  }),
  // `satisfies` finds fields of the port that are missing here, and so would not be stored.
]) satisfies z.ZodType<BotAnswer>

export type StoredAnswer = z.infer<typeof storedAnswerSchema>

/** Earlier releases cannot read a row with the reason `too_large`, and run beside this one during an update. */
export function toStored(answer: BotAnswer): StoredAnswer {
  if (answer.kind !== 'unavailable') return answer
  const { reason } = answer
  return { ...answer, reason: reason === 'too_large' ? 'steam_error' : reason }
}

/** `findRecent`: finds the items, if Steam returned them a moment ago for another token. */
type AnswerRequest = {
  partner: Partner
  game: Game
  language: Language
  findRecent(): Promise<Snapshot | undefined>
  /** Called before Steam is asked for the items, to count the request. */
  spend(): void
}

/** An answer with its time. */
export type Snapshot = { answer: StoredAnswer; at: Date }

/**
 * `barReason`: why the bot itself should send no offers. Steam would hold the bot's side of a trade (`own_hold`), or
 * limits the check that precedes every send (`rate_limited`). `readAt`: null for a fresh answer.
 */
export type ReadResult = {
  answer: BotAnswer
  barReason: Extract<BarReason, 'own_hold' | 'rate_limited'> | null
  readAt: Date | null
}

/** Asks Steam: first whether this partner can trade without a hold, then for their items. */
export async function askSteam(
  session: SteamSession,
  { partner, game, language, findRecent, spend }: AnswerRequest,
): Promise<ReadResult> {
  const checked: PartnerAnswer = await session.checkPartner(partner)
  if (checked.kind !== 'ok') {
    const isLimited = checked.kind === 'unavailable' && checked.reason === 'rate_limited'
    return { answer: checked, barReason: isLimited ? 'rate_limited' : null, readAt: null }
  }
  const barReason = checked.holdDays.own > 0 ? 'own_hold' : null
  if (checked.holdDays.partner > 0)
    return { answer: { kind: 'refused', reason: 'escrow' }, barReason, readAt: null }
  // Steam accepts the token, so its holder may see the stored items.
  const recentSnapshot = await findRecent()
  if (recentSnapshot !== undefined)
    return { answer: recentSnapshot.answer, barReason, readAt: recentSnapshot.at }
  spend()
  const owned: SteamInventory = await session.readInventory(partner, game, language)
  return { answer: owned, barReason, readAt: null }
}

const ERROR_OF_REFUSAL: Record<Extract<StoredAnswer, { kind: 'refused' }>['reason'], InventoryErrorType> = {
  hidden: 'hidden',
  no_items: 'tradeNotAvailable',
  cannot_trade: 'tradeNotAvailable',
  invalid_token: 'invalidPartner',
  escrow: 'escrow',
}

/**
 * Returns the error type of an answer without items. A failure counts as an internal error unless `isOutage`, because a
 * single failure does not prove that Steam is down.
 */
export function errorTypeOf(
  answer: Exclude<StoredAnswer, { kind: 'items' }>,
  isOutage: boolean,
): InventoryErrorType {
  if (answer.kind === 'refused') return ERROR_OF_REFUSAL[answer.reason]
  return isOutage ? 'engineeringWorks' : 'internal'
}

/** True if Steam does not let the account trade. `errorTypeOf` does not distinguish that from an empty inventory. */
export function isRestricted(answer: StoredAnswer): boolean {
  return answer.kind === 'refused' && answer.reason === 'cannot_trade'
}
