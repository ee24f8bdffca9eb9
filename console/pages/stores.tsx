import type { StorePage as Answer } from '../../gateway/operations/stores.ts'
import type { Json } from '../api/json.ts'
import { allRows, useRows } from '../ui/answer.ts'
import { formatMinor, words } from '../ui/format.ts'
import { Go } from '../ui/link.tsx'
import { Heading, Pill, Time } from '../ui/parts.tsx'
import { type Column, List } from '../ui/table.tsx'

type Page = Json<Answer>
type Row = Page['stores'][number]

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Store',
    show: ({ storeId, name }) => <Go to={`/stores/${storeId}`}>{name}</Go>,
    text: ({ name }) => name,
  },
  { name: 'Number', show: ({ storeId }) => storeId, text: ({ storeId }) => storeId },
  { name: 'Credit', show: ({ creditMode }) => words(creditMode), text: ({ creditMode }) => creditMode },
  { name: 'Liable', show: ({ liability }) => liability, text: ({ liability }) => liability },
  {
    name: 'At risk',
    isNumber: true,
    show: ({ atRisk, riskLimit }) => (
      <>
        {formatMinor(atRisk.amountMinor, 'USD')}{' '}
        <span className="quiet">of {formatMinor(riskLimit.amountMinor, 'USD')}</span>
      </>
    ),
    text: ({ atRisk }) => atRisk.amountMinor / 100,
  },
  {
    name: 'Has',
    isNumber: true,
    show: ({ balances }) =>
      balances.length === 0
        ? '—'
        : balances.map(({ currency, availableMinor }) => formatMinor(availableMinor, currency)).join(', '),
    text: ({ balances }) =>
      balances.map(({ currency, availableMinor }) => `${availableMinor / 100} ${currency}`).join(' '),
  },
  {
    name: 'State',
    show: ({ disabledAt }) =>
      disabledAt === null ? <Pill tone="good">enabled</Pill> : <Pill tone="bad">disabled</Pill>,
    text: ({ disabledAt }) => (disabledAt === null ? 'enabled' : 'disabled'),
  },
  { name: 'Since', show: ({ createdAt }) => <Time at={createdAt} />, text: ({ createdAt }) => createdAt },
]

const rowsOf = ({ stores }: Page): readonly Row[] => stores

export function StoresPage() {
  const rows = useRows<Page, Row>('stores', {}, rowsOf)
  return (
    <>
      <Heading title="Stores" />
      <List
        caption="Stores, in the order of their numbers"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ storeId }) => storeId}
        empty="No store yet: tradetill store add makes the first one."
        all={() => allRows<Page, Row>('stores', {}, rowsOf)}
        fileName="stores"
      />
    </>
  )
}
