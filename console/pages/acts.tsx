import type { ActPage } from '../../gateway/operations/acts.ts'
import type { Json } from '../api/json.ts'
import { allRows, useRows } from '../ui/answer.ts'
import { Filters } from '../ui/filters.tsx'
import { Heading, Time } from '../ui/parts.tsx'
import { startOfDay } from '../ui/period.ts'
import { type Column, List } from '../ui/table.tsx'

type Page = Json<ActPage>
type Row = Page['acts'][number]

const COLUMNS: readonly Column<Row>[] = [
  { name: 'When', show: ({ at }) => <Time at={at} />, csvValue: ({ at }) => at },
  { name: 'Who', show: ({ operator }) => operator, csvValue: ({ operator }) => operator },
  { name: 'Act', show: ({ act }) => act, csvValue: ({ act }) => act },
  {
    name: 'What',
    show: (row) => <code className="long">{JSON.stringify(row.arguments)}</code>,
    csvValue: (row) => JSON.stringify(row.arguments),
  },
  { name: 'Why', show: ({ reason }) => reason ?? '—', csvValue: ({ reason }) => reason },
]

const rowsOf = ({ acts }: Page): readonly Row[] => acts

export function ActsPage({ query }: { query: URLSearchParams }) {
  const [act, operator, since] = ['act', 'operator', 'since'].map((name) => query.get(name))
  const input = {
    ...(act != null && { act }),
    ...(operator != null && { operator }),
    ...(since != null && { since: startOfDay(since) }),
  }
  const rows = useRows<Page, Row>('acts', input, rowsOf)
  return (
    <>
      <Heading title="Acts" />
      <Filters
        query={query}
        fields={[
          { name: 'act', label: 'Act' },
          { name: 'operator', label: 'Who' },
          { name: 'since', label: 'Since', type: 'date' },
        ]}
      />
      <List
        caption="What operators did, newest first"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ actId }) => actId}
        empty="No act fits this filter."
        all={() => allRows<Page, Row>('acts', input, rowsOf)}
        fileName="acts"
      />
    </>
  )
}
