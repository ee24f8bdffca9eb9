import { counted } from '../kit/counted.ts'
import type { RuleView, WishPage } from '../operations/wishes.ts'

export const wishLines = ({ wishes, next, rule }: WishPage): string[] => [
  ...wishes.map(({ wishId, createdAt, kind, destination, depositId, bot, items, ...wish }) =>
    [
      wishId,
      createdAt.toISOString(),
      kind === 'send' ? `to ${destination}` : `back to the shopper of deposit ${depositId}`,
      `${counted(items.length, 'item')} of ${bot}`,
      wish.askedBy,
      [wish.state ?? 'the vault has not seen it', wish.because].filter((part) => part !== null).join(': '),
      ...(wish.offerId === null ? [] : [`offer ${wish.offerId}`]),
      ...(wish.steamTradeId === null ? [] : [`Steam trade ${wish.steamTradeId}`]),
      ...(wish.isOpen ? [] : ['closed']),
    ].join('\t'),
  ),
  ...(next === null ? [] : [`More follow: --before ${next}`]),
  ...(rule === null ? [] : ruleLines({ rule })),
]

export const ruleLines = ({ rule }: RuleView): string[] => [
  rule === null
    ? 'No items are sent automatically.'
    : `The vault is asked to send the oldest items to ${rule.destination} while a bot has more than ${counted(rule.keep, 'free item')}.`,
]
