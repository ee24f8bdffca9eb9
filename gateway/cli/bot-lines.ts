import { counted } from '../kit/counted.ts'
import type { BotView } from '../operations/bot-view.ts'
import { botLines } from './lines.ts'
import { accountText } from './shopper-record-lines.ts'

export function botViewLines(bot: BotView): string[] {
  const { games, offers, mostOffers, refusals, calls } = bot
  const failing = [
    ['offers', bot.offersFailingSince],
    ['inventories', bot.inventoriesFailingSince],
  ] as const
  return [
    ...botLines({ bots: [bot], tooMany: 0, disarmed: false }),
    ...failing.flatMap(([calledFor, since]) =>
      since === null ? [] : [`${calledFor} have failed since ${since.toISOString()}`],
    ),
    `calls to Steam in the last hour: ${calls.asked}, ${calls.limited} refused as too many, ${calls.failed} failed, ${calls.heldBack} held back by our own limits`,
    ...games.map(({ game, held, protected: kept, onTheWay, most, room }) =>
      [
        game,
        `${held} of ${most} items`,
        `${kept} protected`,
        `${onTheWay} on the way`,
        `room for ${room}`,
      ].join('\t'),
    ),
    `${offers.length} of ${mostOffers} offers open or to be sent`,
    ...offers.map(({ depositId, tradeId, state, game, items, partnerSteamId, offerId }) =>
      [
        `deposit ${depositId}`,
        `trade ${tradeId}`,
        state,
        `${counted(items, 'item')} of ${game}`,
        `shopper ${accountText(partnerSteamId)}`,
        ...(offerId === null ? [] : [`offer ${offerId}`]),
      ].join('\t'),
    ),
    ...refusals.map(
      ({ refusal, game, times, lastAt }) =>
        `refused or not sent ${counted(times, 'time')} in the last hour: ${refusal}, ${game}, last ${lastAt.toISOString()}`,
    ),
  ]
}
