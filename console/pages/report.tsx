import { majorOf } from '../../contract/money.ts'
import type { StoreReport } from '../../gateway/operations/store-books.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { Filters } from '../ui/filters.tsx'
import { formatMinor, toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Heading, Loaded, Panel } from '../ui/parts.tsx'
import { periodOf } from '../ui/period.ts'
import { type Column, Export, Table } from '../ui/table.tsx'

type Data = Json<StoreReport>
type Row = Data['rows'][number]
type Balance = Data['opening'][number]

const COLUMNS: readonly Column<Row>[] = [
  { name: 'Begins', show: ({ begins }) => begins, csvValue: ({ begins }) => begins },
  { name: 'Currency', show: ({ currency }) => currency, csvValue: ({ currency }) => currency },
  { name: 'Why', show: ({ cause }) => toWords(cause), csvValue: ({ cause }) => cause },
  {
    name: 'Movements',
    isNumber: true,
    show: ({ movements }) => movements,
    csvValue: ({ movements }) => movements,
  },
  {
    name: 'Held',
    isNumber: true,
    show: ({ heldMinor, currency }) => formatMinor(heldMinor, currency),
    csvValue: ({ heldMinor, currency }) => majorOf(heldMinor, currency),
  },
  {
    name: 'Available',
    isNumber: true,
    show: ({ availableMinor, currency }) => formatMinor(availableMinor, currency),
    csvValue: ({ availableMinor, currency }) => majorOf(availableMinor, currency),
  },
  {
    name: 'Commission',
    isNumber: true,
    show: ({ commissionMinor, currency }) => formatMinor(commissionMinor, currency),
    csvValue: ({ commissionMinor, currency }) =>
      commissionMinor === null ? null : majorOf(commissionMinor, currency),
  },
]

export function ReportPage({ storeId, query }: { storeId: string; query: URLSearchParams }) {
  const { from, to } = periodOf(query)
  const by = query.get('by') === 'day' ? 'day' : 'month'
  const { shown, refresh } = useAnswer<Data>('report', { storeId, from, to, by }, { isLive: false })
  return (
    <>
      <Heading title={`Report of store ${storeId}`}>
        <PageLink className="button small" to={`/stores/${storeId}`}>
          The store
        </PageLink>
      </Heading>
      <Filters
        query={query}
        fields={[
          { name: 'from', label: 'From (UTC)', type: 'date' },
          { name: 'to', label: 'Before (UTC)', type: 'date' },
          { name: 'by', label: 'By', options: ['month', 'day'], fallback: 'month' },
        ]}
      />
      <Loaded shown={shown} refresh={refresh}>
        {({ rows, opening, closing }) => (
          <>
            <Balances title="At the beginning" balances={opening} />
            <Panel title="Movements">
              <Table
                caption="Movements by time and cause"
                columns={COLUMNS}
                rows={rows}
                keyOf={({ begins, currency, cause }) => begins + currency + cause}
                empty="No money moved in this period."
              />
              {rows.length > 0 && (
                <div className="list-foot">
                  <Export columns={COLUMNS} all={async () => rows} fileName={`report-${storeId}`} />
                </div>
              )}
            </Panel>
            <Balances title="At the end" balances={closing} />
          </>
        )}
      </Loaded>
    </>
  )
}

function Balances({ title, balances }: { title: string; balances: readonly Balance[] }) {
  return (
    <Panel title={title}>
      <Table
        caption={`Balances ${title.toLowerCase()}`}
        rows={balances}
        keyOf={({ currency }) => currency}
        empty="Nothing yet."
        columns={[
          { name: 'Currency', show: ({ currency }) => currency },
          {
            name: 'Available',
            isNumber: true,
            show: ({ availableMinor, currency }) => formatMinor(availableMinor, currency),
          },
          {
            name: 'Held',
            isNumber: true,
            show: ({ heldMinor, currency }) => formatMinor(heldMinor, currency),
          },
        ]}
      />
    </Panel>
  )
}
