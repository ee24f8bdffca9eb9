/** How a person reads wishes to the vault. */
import type { RuleView, WishPage } from '../operations/wishes.ts'

export const wishLines = ({ wishes, next }: WishPage): string[] => [
  ...wishes.map(({ wishId, createdAt, kind, destination, depositId, bot, items, ...wish }) =>
    [
      wishId,
      createdAt.toISOString(),
      kind === 'send' ? `to ${destination}` : `back to whom deposit ${depositId} came from`,
      `${items.length} items of ${bot}`,
      wish.askedBy,
      [wish.state ?? 'the vault has not seen it', wish.because].filter((part) => part !== null).join(': '),
      ...(wish.offerId === null ? [] : [`offer ${wish.offerId}`]),
      ...(wish.steamTradeId === null ? [] : [`Steam trade ${wish.steamTradeId}`]),
      ...(wish.isOpen ? [] : ['closed']),
    ].join('\t'),
  ),
  ...(next === null ? [] : [`There are older ones: --before ${next}`]),
]

export const ruleLines = ({ rule }: RuleView): string[] => [
  rule === null
    ? 'Bots keep their items.'
    : `Bots with more than ${rule.keep} free items send the oldest to ${rule.destination}.`,
]
