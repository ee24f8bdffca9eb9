import { decimalOf } from '../../contract/money.ts'
import type { Bar } from '../bots/bar.ts'
import { counted } from '../kit/counted.ts'
import type { ActPage } from '../operations/acts.ts'
import type { CheckedBackup } from '../operations/backups.ts'
import { answersNotice, noticeOf } from '../operations/bot-notice.ts'
import type { BotList } from '../operations/bots.ts'
import { csvLines } from '../operations/csv.ts'
import type { DeparturePage } from '../operations/departures.ts'
import type { AddedBots } from '../operations/enrolment.ts'
import type {
  ItemHistories,
  ItemList,
  ItemPage,
  ListedItemView,
  MovedItems,
  UnmovedItems,
} from '../operations/items.ts'
import { toJson } from '../operations/json.ts'
import type { KeyRing } from '../operations/key-ring.ts'
import type { LedgerCheck } from '../operations/ledger.ts'
import type { Migrated, MigrationStatus, Plan } from '../operations/migrations.ts'
import type { RenewedBots } from '../operations/renewal.ts'
import type { TradeList } from '../operations/trades.ts'
import { accountText } from './shopper-record-lines.ts'

const dayOf = (date: Date): string => date.toISOString().slice(0, 10)

export function botLines({ bots, tooMany, disarmed }: BotList): string[] {
  const lines = bots.map((bot) => {
    // Unless one of these is true, the reason is old: it is from a gateway that no longer holds the bot.
    const isCurrent = bot.state === 'dead' || bot.hasGateway || bot.loginAfter !== null
    const why = isCurrent ? bot.stateReason : undefined
    const fallback = bot.hasGateway ? 'logging in' : 'no gateway holds it'
    const offline = bot.state === 'retired' ? 'offline' : `offline (${why ?? fallback})`
    const reach = bot.reachable ? 'online' : offline
    const soon = bot.tokenEndsSoon ? ' (soon)' : ''
    const facts = [
      bot.botId,
      bot.state,
      reach,
      `level ${bot.level}`,
      counted(bot.itemsHeld, 'item'),
      tokenText(bot) + soon,
    ]
    return [...facts, bot.steamId, bot.name, ...historyText(bot), ...bot.bars.map(barText)].join('\t')
  })
  if (disarmed) return [...lines, 'The bots are disarmed: no gateway uses them until bot arm.']
  if (tooMany === 0) return lines
  return [
    ...lines,
    `${counted(tooMany, 'bot')} more than all gateways may hold: raise TRADETILL_MAX_BOTS, or start another gateway.`,
  ]
}

/** The token of a retired bot is deleted. Any other token without an expiry time does not expire. */
function tokenText({ state, tokenExpiresAt }: BotList['bots'][number]): string {
  if (state === 'retired') return 'no token'
  return tokenExpiresAt ? `token until ${dayOf(tokenExpiresAt)}` : 'token does not expire'
}

export function migrationLines({ applied, missing }: MigrationStatus): string[] {
  return [
    ...applied.map(({ migration, oldestVersion }) => {
      const versions =
        oldestVersion === null ? 'oldest version not recorded' : `for ${oldestVersion} or later`
      return `applied\t${migration}\t${versions}`
    }),
    ...missing.map((migration) => `missing\t${migration}`),
  ]
}

const BLOCKED_TEXT = { none: 'blocks nothing', writes: 'blocks writes', all: 'blocks everything' }

export function planLines(data: Plan | Migrated): string[] {
  if ('applied' in data) return data.applied.length === 0 ? ['No migration is missing.'] : data.applied
  if (data.steps.length === 0) return ['No migration is missing.']
  return data.steps.map(({ migration, lock, table, statement, takesAway }) => {
    // A `drop index` does not say which table it concerns.
    const blocked = lock === 'none' ? BLOCKED_TEXT.none : `${BLOCKED_TEXT[lock]} on ${table ?? 'the table'}`
    return [
      migration,
      blocked,
      ...(takesAway === null ? [] : [`${takesAway}: stop older gateways first`]),
      statement,
    ].join('\t')
  })
}

export function backupLines(backup: CheckedBackup): string[] {
  const { mode, isOwnKey, missing, stores, deposits, events, entries, differences } = backup
  const newest = (noun: string, at: Date | null) => `newest ${noun}\t${at?.toISOString() ?? 'none'}`
  return [
    `mode\t${mode}`,
    `master key\t${isOwnKey ? 'the same as in these settings' : 'not the one in these settings: keep the key of this backup'}`,
    newest('deposit', backup.depositAt),
    newest('event', backup.eventAt),
    newest('entry of the ledger', backup.entryAt),
    [
      counted(stores, 'store'),
      counted(deposits, 'deposit'),
      counted(events, 'event'),
      counted(entries, 'entry', 'entries'),
    ].join(', '),
    missing.length === 0
      ? `ledger\t${counted(differences, 'difference')}`
      : `ledger\tnot verified: this version would first apply ${missing.join(', ')}`,
  ]
}

function historyText({ history }: BotList['bots'][number]): string[] {
  if (history === null) return []
  if (history.completeAt === null) return ['reversals not known yet']
  return [`reversals known until ${history.completeAt.toISOString()}`]
}

function barText({ scope, reason, until }: Bar): string {
  const effect = reason === 'doubted' ? 'chosen last' : 'no new trades'
  const games = scope === 'all' ? '' : ` of ${scope}`
  return `${effect}${games} until ${until.toISOString()}: ${reason}`
}

export function tradeLines({ trades, isCut }: TradeList): string[] {
  const lines = trades.map((trade) => {
    const { tradeId, depositId, state, reason, botId, bot, botState, partnerSteamId, offerId, steamTradeId } =
      trade
    const status = reason === null ? state : `${state}, ${reason}`
    const until = trade.until === null ? [] : [`until ${trade.until.toISOString()}`]
    return [
      tradeId,
      `deposit ${depositId}`,
      status,
      `created ${trade.createdAt.toISOString()}`,
      `bot ${botId} (${bot}, ${botState})`,
      `shopper ${accountText(partnerSteamId)}`,
      `offer ${offerId ?? 'not known'}`,
      `Steam trade ${steamTradeId ?? 'not known'}`,
      ...until,
    ].join('\t')
  })
  return isCut ? [...lines, 'Only the oldest are listed.'] : lines
}

export const addedBotLines = ({ added, refused }: AddedBots): string[] => [
  ...added.map((bot) => `Bot ${bot.botId} added: ${bot.name} (${bot.steamId}).${noticeOf(bot)}`),
  ...refused.map(({ line, message }) => `Line ${line}: ${message}`),
]

export function renewedBotLines({ renewed, refused }: RenewedBots): string[] {
  if (renewed.length + refused.length === 0)
    return [
      'No bot is dead, and no token expires within 30 days. To renew another bot, such as one whose token Steam has just refused, name it: bot renew 1.',
    ]
  return [
    ...renewed.map((bot) => `Bot ${bot.botId} renewed: ${bot.name} (${bot.steamId}).${answersNotice(bot)}`),
    ...refused.map(({ botId, message }) => `Bot ${botId}: ${message}`),
  ]
}

const COLUMNS = [
  'item',
  'bot',
  'botSteamId',
  'appId',
  'assetId',
  'marketHashName',
  'price',
  'currency',
  'receivedAt',
  'protectedUntil',
] as const

export const itemLines = ({ items }: ItemList): string[] =>
  csvLines(
    COLUMNS,
    items.map((item) => ({ ...item, price: decimalOf(item.priceMinor, item.currency) })),
  )

const itemLine = (item: ListedItemView): string =>
  [
    item.item,
    item.state,
    item.marketHashName,
    `${decimalOf(item.priceMinor, item.currency)} ${item.currency}`,
    `deposit ${item.depositId}`,
    `bot ${item.bot}`,
    `asset ${item.assetId ?? 'not known'}`,
    `received ${item.receivedAt.toISOString()}`,
    ...(item.protectedUntil === null ? [] : [`protected until ${item.protectedUntil.toISOString()}`]),
    ...(item.leftAt === null ? [] : [`left ${item.leftAt.toISOString()}`]),
    ...(item.departureId === null ? [] : [`departure ${item.departureId}`]),
  ].join('\t')

export const itemPageLines = ({ items, next }: ItemPage): string[] => [
  ...items.map(itemLine),
  ...(next === null ? [] : [`More follow: --before ${next}`]),
]

export const itemHistoryLines = ({ items }: ItemHistories): string[] =>
  items.flatMap(({ moves, ...item }) => [
    itemLine(item),
    ...moves.map(({ moved, at, bot, assetId, departureId, partnerSteamId }) => {
      const side = moved === 'in' ? 'from' : 'to'
      const byHand = departureId === null ? ['by hand'] : []
      const counterparty = partnerSteamId === null ? byHand : [`${side} ${accountText(partnerSteamId)}`]
      const departure = departureId === null ? [] : [`departure ${departureId}`]
      return [
        '',
        at.toISOString(),
        moved,
        `bot ${bot}`,
        `asset ${assetId ?? 'not known'}`,
        ...counterparty,
        ...departure,
      ].join('\t')
    }),
  ])

export const movedLines = ({ moved, refused }: MovedItems): string[] => [
  ...refused.map(({ item, message }) => `${item} ${message}`),
  `${moved.length} recorded as moved.`,
]

export const unmovedLines = ({ unmoved, refused }: UnmovedItems): string[] => [
  ...refused.map(({ item, message }) => `${item} ${message}`),
  `${unmoved.length} booked to their bots again.`,
]

export const departureLines = ({ departures, next }: DeparturePage): string[] => [
  ...departures.flatMap((departure) => {
    const { departureId, bot, steamTradeId, partnerSteamId, begunAt, stage, explanation, destination } =
      departure
    const why = explanation === null ? 'UNEXPLAINED' : (destination ?? explanation)
    return [
      [
        departureId,
        begunAt.toISOString(),
        stage,
        why,
        `bot ${bot}`,
        `to ${partnerSteamId}`,
        `Steam trade ${steamTradeId}`,
      ].join('\t'),
      ...departure.items.map(({ appId, assetId, marketHashName, isBack }) => {
        return `\t${appId}/${assetId}\t${marketHashName ?? 'not known'}${isBack ? '\tcame back' : ''}`
      }),
    ]
  }),
  ...(next === null ? [] : [`More follow: --before ${next}`]),
]

export const keyRingLines = ({ fingerprint, known, values, left }: KeyRing): string[] => [
  `new secrets are sealed with the master key ${fingerprint}`,
  ...known
    .filter((each) => each !== fingerprint)
    .map((old) => `the database may also need the master key ${old}`),
  `${values - left} of ${values} secrets are sealed with ${fingerprint}, ${left} left`,
]

/** Returns only the key, so the output can be piped. */
export const keyOnly = ({ apiKey }: { apiKey: string }): string[] => [apiKey]

export const ledgerLines = ({ entries, differences }: LedgerCheck): string[] => [
  ...differences.map(({ problem, detail }) => `${problem}: ${detail}`),
  `${counted(entries, 'entry', 'entries')} checked, ${counted(differences.length, 'difference')}.`,
]

export const actLines = ({ acts, next }: ActPage): string[] => [
  ...acts.map(({ actId, at, operator, act, arguments: actArguments, reason }) =>
    [actId, at.toISOString(), operator, act, toJson(actArguments), reason ?? ''].join('\t').trimEnd(),
  ),
  ...(next === null ? [] : [`More follow: --before ${next}`]),
]
