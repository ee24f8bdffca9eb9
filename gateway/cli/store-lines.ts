import { decimalOf, percentOf } from '../../contract/money.ts'
import { counted } from '../kit/counted.ts'
import { formatAmount } from '../operations/amount.ts'
import { csvLines } from '../operations/csv.ts'
import type { KeyList } from '../operations/keys.ts'
import type { PayoutPage } from '../operations/payouts.ts'
import type { MoneyReport, StatementPage, StoreReport } from '../operations/store-books.ts'
import type { FreshStore, StorePage, StoreView, UpdatedStore } from '../operations/stores.ts'
import { PREFIX } from './command.ts'

export const freshStoreLines = ({ storeId, mode, apiKey, webhookSecret }: FreshStore): string[] => [
  `Store ${storeId} created. These are shown only once:`,
  `  API key         ${apiKey}`,
  ...(webhookSecret === null
    ? []
    : [
        `  webhook secret  ${webhookSecret}`,
        `Once the store has the secret, send a test and see the answer: ${testCommandFor({ storeId, mode })}`,
      ]),
]

/** `webhookUrl`: the address that the command named. */
export const updatedStoreLines = (
  { storeId, mode, webhookSecret }: UpdatedStore,
  { webhookUrl }: { webhookUrl?: string },
): string[] => [
  `Store ${storeId} updated.`,
  ...(webhookSecret === null ? [] : [`  webhook secret  ${webhookSecret}`]),
  ...(webhookUrl === undefined
    ? []
    : [`To send a test and see the answer: ${testCommandFor({ storeId, mode })}`]),
]

/** `store add` and `store update` send no test: a new store cannot check a signature before it has the secret. */
const testCommandFor = ({ storeId, mode }: Pick<FreshStore, 'storeId' | 'mode'>): string =>
  `${PREFIX} ${mode === 'live' ? 'doctor --send-webhooks' : `trigger --store ${storeId} deposit.succeeded`}`

export function storeLines(store: StoreView): string[] {
  const { amountMinor, currency } = store.riskLimit
  const { atRisk } = store
  return [
    `store ${store.storeId}: ${store.name}, since ${store.createdAt.toISOString()}`,
    ...(store.disabledAt === null ? [] : [`  DISABLED since ${store.disabledAt.toISOString()}`]),
    `  origins      ${store.origins.join(' ')}`,
    `  credit       ${store.creditMode}, at risk ${formatAmount(atRisk.amountMinor, atRisk.currency)} of ${formatAmount(amountMinor, currency)}`,
    `  reversals    borne by the ${store.liability}`,
    `  commission   ${store.commissionBps === null ? 'as the settings say' : percentText(store.commissionBps)}`,
    `  games        ${store.games?.join(' ') ?? 'all'}`,
    `  accent       ${store.accent ?? 'the page’s own'}`,
    ...store.keys.map((key) => `  key          ${keyLine(key)}`),
    ...store.endpoints.map(({ endpointId, url, state, disabledReason }) => {
      const reason = disabledReason === null ? '' : ` (${disabledReason})`
      return `  endpoint ${endpointId}   ${state}${reason} ${url}`
    }),
    ...store.addresses.map(
      ({ address, inside }) => `  webhooks to  ${address}${inside ? ', inside your network too' : ''}`,
    ),
    ...store.balances.map((balance) => `  balance      ${balanceText(balance)}`),
  ]
}

function balanceText({
  currency,
  availableMinor,
  heldMinor,
  reversedMinor,
}: StoreView['balances'][number]): string {
  const [available, held, reversed] = [availableMinor, heldMinor, reversedMinor].map((amount) =>
    formatAmount(amount, currency),
  )
  return `available ${available}, held ${held}, reversed ${reversed}`
}

const percentText = (bps: number): string => `${percentOf(bps)} %`

export const storeListLines = ({ stores, next }: StorePage): string[] => [
  ...stores.map((store) =>
    [
      store.storeId,
      store.disabledAt === null ? 'enabled' : 'DISABLED',
      store.name,
      `at risk ${formatAmount(store.atRisk.amountMinor, 'USD')} of ${formatAmount(store.riskLimit.amountMinor, 'USD')}`,
      ...store.balances.map(balanceText),
    ].join('\t'),
  ),
  ...(next === null ? [] : [`There are more: --after ${next}`]),
]

export const statementLines = ({ currency, movements, next }: StatementPage): string[] => [
  ...movements.map(({ entryId, at, cause, depositId, reference, heldMinor, availableMinor }) =>
    [
      entryId,
      at,
      cause,
      `held ${formatAmount(BigInt(heldMinor), currency)}`,
      `available ${formatAmount(BigInt(availableMinor), currency)}`,
      ...(depositId === null ? [] : [`deposit ${depositId}`]),
      ...(reference === null ? [] : [reference]),
    ].join('\t'),
  ),
  ...(next === null ? [] : [`More follow: --before ${next}`]),
]

export const statementCsv = ({ currency, movements }: StatementPage): string[] =>
  csvLines(
    ['entryId', 'at', 'cause', 'depositId', 'reference', 'currency', 'held', 'available'],
    movements.map(({ heldMinor, availableMinor, ...row }) => ({
      ...row,
      currency,
      held: decimalOf(BigInt(heldMinor), currency),
      available: decimalOf(BigInt(availableMinor), currency),
    })),
  )

type Books = Omit<StoreReport, 'storeId'>

export const reportLines = ({ rows, opening, closing }: Books): string[] => [
  ...opening.map((balance) => `opening\t${balanceAtText(balance)}`),
  ...rows.map(({ begins, currency, cause, movements, heldMinor, availableMinor, commissionMinor }) =>
    [
      begins,
      cause,
      counted(movements, 'movement'),
      `held ${formatAmount(heldMinor, currency)}`,
      `available ${formatAmount(availableMinor, currency)}`,
      ...(commissionMinor === null ? [] : [`commission ${formatAmount(commissionMinor, currency)}`]),
    ].join('\t'),
  ),
  ...closing.map((balance) => `closing\t${balanceAtText(balance)}`),
]

export const moneyReportLines = ({ own, ...books }: MoneyReport): string[] => [
  ...reportLines(books),
  ...own.map(({ begins, kind, currency, amountMinor }) =>
    [begins, 'yours', kind, formatAmount(amountMinor, currency)].join('\t'),
  ),
]

const balanceAtText = ({ currency, heldMinor, availableMinor }: StoreReport['opening'][number]): string =>
  `available ${formatAmount(availableMinor, currency)}, held ${formatAmount(heldMinor, currency)}`

const REPORT_COLUMNS = [
  'begins',
  'cause',
  'movements',
  'currency',
  'held',
  'available',
  'commission',
] as const

export const reportCsv = (books: Books): string[] => csvLines(REPORT_COLUMNS, csvRowsOf(books))

/** A row about one of the operator's own accounts has its amount in the column `yours`, and no other amount. */
export const moneyReportCsv = ({ own, ...books }: MoneyReport): string[] =>
  csvLines(
    [...REPORT_COLUMNS, 'yours'],
    [
      ...csvRowsOf(books).map((row) => ({ ...row, yours: null })),
      ...own.map(({ begins, kind, currency, amountMinor }) => {
        const rest = { movements: null, held: null, available: null, commission: null }
        return { ...rest, begins, cause: `yours ${kind}`, currency, yours: decimalOf(amountMinor, currency) }
      }),
    ],
  )

function csvRowsOf({ rows, opening, closing }: Books) {
  const balanceRows = (cause: string, balances: StoreReport['opening']) =>
    balances.map((row) => ({ ...row, begins: null, cause, movements: null, commissionMinor: null }))
  return [...balanceRows('opening', opening), ...rows, ...balanceRows('closing', closing)].map((row) => ({
    ...row,
    held: decimalOf(row.heldMinor, row.currency),
    available: decimalOf(row.availableMinor, row.currency),
    commission: row.commissionMinor === null ? null : decimalOf(row.commissionMinor, row.currency),
  }))
}

export const payoutLines = ({ payouts, next }: PayoutPage): string[] => [
  ...payouts.map(({ payoutId, storeId, currency, amountMinor, reference, paidAt, voidedAt }) =>
    [
      payoutId,
      paidAt.toISOString(),
      `store ${storeId}`,
      formatAmount(amountMinor, currency),
      reference,
      ...(voidedAt === null ? [] : [`VOIDED ${voidedAt.toISOString()}`]),
    ].join('\t'),
  ),
  ...(next === null ? [] : [`More follow: --before ${next}`]),
]

export const keyListLines = ({ keys }: KeyList): string[] => keys.map(keyLine)

function keyLine({
  keyId,
  name,
  scopes,
  lastUsedAt,
  expiresAt,
  revokedAt,
  unused,
  endsSoon,
}: StoreView['keys'][number]): string {
  const used = lastUsedAt === null ? 'never used' : `used ${lastUsedAt.toISOString()}`
  const idle = unused ? ' (30 days without use: revoke it?)' : ''
  const end =
    revokedAt !== null
      ? `, revoked ${revokedAt.toISOString()}`
      : expiresAt === null
        ? ''
        : `, ends ${expiresAt.toISOString()}${endsSoon ? ' (soon)' : ''}`
  return `${keyId} "${name}" ${scopes.join(' ')}, ${used}${idle}${end}`
}
