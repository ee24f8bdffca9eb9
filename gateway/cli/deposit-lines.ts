/** Formats deposits and search results for a person. */
import { decimalOf } from '../../contract/money.ts'
import { counted } from '../kit/counted.ts'
import { formatAmount } from '../operations/amount.ts'
import { csvLines } from '../operations/csv.ts'
import type { DepositInList, DepositPage } from '../operations/deposit-list.ts'
import type { DepositView } from '../operations/deposits.ts'
import type { Findings, FoundDeposit } from '../operations/find.ts'
import { accountText, recordLines } from './shopper-record-lines.ts'

const NEED_TEXT = {
  bot_away: 'NO GATEWAY HOLDS ITS BOT',
  steam_silent: 'STEAM HAS NOT ANSWERED FOR A DAY',
  credit_waits: 'ITS HELD TRADE WAITS FOR YOU',
}

type Row = Pick<
  DepositInList,
  | 'depositId'
  | 'storeId'
  | 'store'
  | 'externalId'
  | 'status'
  | 'currency'
  | 'amountMinor'
  | 'steamId'
  | 'createdAt'
>

export function cellsOf(row: Row): string[] {
  const { depositId, storeId, store, externalId, status, currency, amountMinor, steamId, createdAt } = row
  return [
    String(depositId),
    createdAt.toISOString(),
    status,
    amountMinor === null ? `nothing, ${currency}` : formatAmount(amountMinor, currency),
    `store ${storeId} (${store})`,
    `order ${externalId}`,
    ...(steamId === null ? [] : [`shopper ${accountText(steamId)}`]),
  ]
}

export const depositListLines = ({ deposits, next }: DepositPage): string[] => [
  ...deposits.map((row) => [...cellsOf(row), ...row.needs.map((need) => NEED_TEXT[need])].join('\t')),
  ...(next === null ? [] : [`More follow: --before ${next}`]),
]

const COLUMNS = [
  'depositId',
  'createdAt',
  'storeId',
  'store',
  'externalId',
  'status',
  'currency',
  'amount',
  'held',
  'reversed',
  'steamId',
  'game',
  'needs',
] as const

export const depositCsv = ({ deposits }: Pick<DepositPage, 'deposits'>): string[] =>
  csvLines(
    COLUMNS,
    deposits.map(({ amountMinor, heldMinor, reversedMinor, needs, ...row }) => ({
      ...row,
      amount: amountMinor === null ? null : decimalOf(amountMinor, row.currency),
      held: decimalOf(heldMinor, row.currency),
      reversed: decimalOf(reversedMinor, row.currency),
      needs: needs.join(' '),
    })),
  )

export function depositLines({ moments, next, can, needs, shopper }: DepositView): string[] {
  return [
    ...moments.map(({ at, what, amountMinor, currency }) => {
      const amount =
        amountMinor === null || currency === null ? '' : `, ${formatAmount(amountMinor, currency)}`
      return `${at.toISOString()}  ${what}${amount}`
    }),
    ...(shopper === null ? [] : recordLines(shopper)),
    ...needs.map((need) => NEED_TEXT[need]),
    ...(next.length === 0 ? ['Next: nothing.'] : ['Next:']),
    ...next.map(({ at, what }) => `  ${at?.toISOString() ?? 'at an unknown time      '}  ${what}`),
    ...(can.length === 0 ? [] : ['You can:']),
    ...can.map(({ command, does, from }) => {
      const later = from === null ? '' : ` (from ${from.toISOString()})`
      return `  ${command}  ${does}${later}`
    }),
  ]
}

const MATCHED_BY: Record<FoundDeposit['as'][number], string> = {
  hash: 'its link',
  receipt: 'its receipt',
  deposit: 'its number',
  trade: 'its trade',
  order: 'its order id',
  steam_id: 'its shopper',
  offer: 'its offer',
  steam_trade: 'its Steam trade',
  asset: 'its item',
  code: 'its secret code',
  item_name: 'the name of its item',
}

/**
 * Returns a line for each result, and one for each delivery of an event. The line of a deposit also says which part of
 * it matched.
 */
export function findingLines(findings: Findings): string[] {
  return [
    ...findings.deposits.map((row) =>
      ['deposit', ...cellsOf(row), `by ${row.as.map((key) => MATCHED_BY[key]).join(', ')}`].join('\t'),
    ),
    ...findings.shoppers.map(({ steamId, name, isDenied, isBot }) =>
      [
        'shopper',
        steamId,
        ...(name === null ? [] : [name]),
        ...(isDenied ? ['DENIED'] : []),
        ...(isBot ? ['A BOT OF THIS TILL'] : []),
      ].join('\t'),
    ),
    ...findings.stores.map(({ storeId, name }) => ['store', storeId, name].join('\t')),
    ...findings.bots.map(({ botId, name, steamId, state }) =>
      ['bot', botId, state, steamId, name].join('\t'),
    ),
    ...findings.items.map(({ game, item }) => ['item', game, item].join('\t')),
    ...findings.events.flatMap(({ eventId, storeId, type, sequence, depositId, createdAt, deliveries }) => [
      [
        'event',
        eventId,
        createdAt.toISOString(),
        type,
        `store ${storeId}, ${sequence === null ? 'not published' : `sequence ${sequence}`}`,
        ...(depositId === null ? [] : [`deposit ${depositId}`]),
      ].join('\t'),
      ...deliveries.map(({ deliveryId, endpointId, state, attempts, lastResult }) =>
        [
          '',
          `delivery ${deliveryId}`,
          `endpoint ${endpointId}`,
          state,
          counted(attempts, 'attempt'),
          ...(lastResult === null ? [] : [lastResult]),
        ].join('\t'),
      ),
    ]),
    ...findings.departures.map(({ departureId, bot, partnerSteamId, steamTradeId }) =>
      ['departure', departureId, `bot ${bot}`, `to ${partnerSteamId}`, `Steam trade ${steamTradeId}`].join(
        '\t',
      ),
    ),
    ...(findings.isCut ? ['There are more: give a longer text, or use deposit list.'] : []),
  ]
}
