import { GAMES } from '../../contract/games.ts'
import { CURRENCIES, majorOf } from '../../contract/money.ts'
import { DEPOSIT_STATUSES } from '../../contract/statuses.ts'
import type { DepositPage } from '../../gateway/operations/deposit-list.ts'
import type { DepositOrder } from '../../gateway/operations/deposit-orders.ts'
import type { Json } from '../api/json.ts'
import { allRows, useRows } from '../ui/answer.ts'
import { Filters } from '../ui/filters.tsx'
import { formatMinor, toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Heading, Pill, Status, Time } from '../ui/parts.tsx'
import { startOfDay } from '../ui/period.ts'
import { csvShopper, ShopperLink } from '../ui/shopper-link.tsx'
import type { Direction } from '../ui/sort.tsx'
import { type Column, List } from '../ui/table.tsx'

type Page = Json<DepositPage>
/** Other pages show their deposits in the same columns, but without `needs`. */
type Row = Omit<Page['deposits'][number], 'needs'> & { needs?: Page['deposits'][number]['needs'] }

export const DEPOSIT_COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Deposit',
    show: ({ depositId }) => <PageLink to={`/deposits/${depositId}`}>{depositId}</PageLink>,
    csvValue: ({ depositId }) => depositId,
  },
  {
    name: 'Status',
    show: ({ status, needs = [] }) => (
      <>
        <Status name={status} />{' '}
        {needs.map((need) => (
          <Pill key={need} tone="bad">
            {toWords(need)}
          </Pill>
        ))}
      </>
    ),
    csvValue: ({ status }) => status,
  },
  {
    name: 'Store',
    show: ({ storeId, store }) => <PageLink to={`/stores/${storeId}`}>{store}</PageLink>,
    csvValue: ({ store }) => store,
  },
  {
    name: 'Order',
    show: ({ externalId }) => <span className="long-id">{externalId}</span>,
    csvValue: ({ externalId }) => externalId,
  },
  {
    name: 'Shopper',
    show: ({ steamId }) => <ShopperLink steamId={steamId} />,
    csvValue: ({ steamId }) => csvShopper(steamId),
  },
  { name: 'Game', show: ({ game }) => game ?? '—', csvValue: ({ game }) => game },
  {
    name: 'Credited',
    isNumber: true,
    show: ({ amountMinor, currency }) => formatMinor(amountMinor, currency),
    csvValue: ({ amountMinor, currency }) => (amountMinor === null ? null : majorOf(amountMinor, currency)),
  },
  { name: 'Currency', show: ({ currency }) => currency, csvValue: ({ currency }) => currency },
  {
    name: 'Held',
    isNumber: true,
    show: ({ heldMinor, currency }) => (heldMinor === 0 ? '—' : formatMinor(heldMinor, currency)),
    csvValue: ({ heldMinor, currency }) => majorOf(heldMinor, currency),
  },
  {
    name: 'Opened',
    show: ({ createdAt }) => <Time at={createdAt} />,
    csvValue: ({ createdAt }) => createdAt,
  },
]

const ORDERS: readonly DepositOrder[] = ['newest', 'oldest', 'largest', 'smallest']

const ORDERS_BY_COLUMN = {
  Credited: { ascending: 'smallest', descending: 'largest' },
  Opened: { ascending: 'oldest', descending: 'newest' },
} satisfies Record<string, Record<Direction, DepositOrder>>

const rowsOf = ({ deposits }: Page): readonly Row[] => deposits

/** Returns the query's currency. A query that filters or sorts by amount needs one, so it gets a default. */
function currencyOf(query: URLSearchParams): string | null {
  const usesAmount =
    query.has('least') || query.has('most') || ['largest', 'smallest'].includes(query.get('order') ?? '')
  return query.get('currency') ?? (usesAmount ? CURRENCIES[0] : null)
}

export function DepositsPage({ query }: { query: URLSearchParams }) {
  const currency = currencyOf(query)
  const [from, to] = [query.get('from'), query.get('to')]
  const order = query.get('order') ?? 'newest'
  const input = {
    ...(query.get('status') !== null && { status: query.get('status') }),
    ...(query.get('game') !== null && { game: query.get('game') }),
    ...(query.get('store') !== null && { storeId: query.get('store') }),
    ...(query.get('steamId') !== null && { steamId: query.get('steamId') }),
    ...(from !== null && { from: startOfDay(from) }),
    ...(to !== null && { to: startOfDay(to) }),
    ...(query.get('needs') === '1' && { needsPerson: true }),
    ...(currency !== null && { currency }),
    ...(query.get('least') !== null && { least: query.get('least') }),
    ...(query.get('most') !== null && { most: query.get('most') }),
    ...(order !== 'newest' && { order }),
  }
  const rows = useRows<Page, Row>('deposits', input, rowsOf)
  return (
    <>
      <Heading title="Deposits" />
      <Filters
        query={query}
        fields={[
          { name: 'status', label: 'Status', options: DEPOSIT_STATUSES },
          { name: 'game', label: 'Game', options: GAMES },
          { name: 'store', label: 'Store number' },
          { name: 'steamId', label: 'Steam id' },
          { name: 'from', label: 'From', type: 'date' },
          { name: 'to', label: 'Before', type: 'date' },
          {
            name: 'currency',
            label: 'Currency',
            options: CURRENCIES,
            ...(currency !== null && { fallback: currency }),
          },
          { name: 'least', label: 'Credit from' },
          { name: 'most', label: 'Credit up to' },
          { name: 'order', label: 'Show first', options: ORDERS, fallback: 'newest' },
          { name: 'needs', label: 'Needs a person', type: 'checkbox' },
        ]}
      />
      <List
        caption={`Deposits, ${order} first`}
        orders={ORDERS_BY_COLUMN}
        order={order}
        columns={DEPOSIT_COLUMNS}
        rows={rows}
        keyOf={({ depositId }) => depositId}
        empty="No deposit fits this filter."
        all={() => allRows<Page, Row>('deposits', input, rowsOf)}
        fileName="deposits"
      />
    </>
  )
}
