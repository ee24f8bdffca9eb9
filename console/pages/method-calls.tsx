import type { Weather } from '../../gateway/operations/weather-store.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { PageLink } from '../ui/link.tsx'
import { Loaded, Panel, Pill } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'

type Methods = Json<Weather>['methods']
type Calls = Omit<Methods[number], 'method'>

const inSeconds = (ms: number | null): string => (ms === null ? '—' : `${(ms / 1_000).toFixed(2)} s`)

const redIfAny = (count: number) => (count === 0 ? 0 : <Pill tone="bad">{count}</Pill>)

/** The columns about calls to Steam, which cover 24 hours. */
export const CALL_COLUMNS: readonly Column<Calls>[] = [
  { name: 'Calls', isNumber: true, sortValue: ({ asked }) => asked, show: ({ asked }) => asked },
  {
    name: 'Answered 429',
    isNumber: true,
    sortValue: ({ limited }) => limited,
    show: ({ limited }) => redIfAny(limited),
  },
  {
    name: 'Failed',
    isNumber: true,
    sortValue: ({ failed }) => failed,
    show: ({ failed }) => redIfAny(failed),
  },
  {
    name: 'Held back',
    isNumber: true,
    sortValue: ({ heldBack }) => heldBack,
    show: ({ heldBack }) => heldBack,
  },
  {
    name: 'Average time',
    isNumber: true,
    sortValue: ({ averageMs }) => averageMs,
    show: ({ averageMs }) => inSeconds(averageMs),
  },
  {
    name: 'Longest',
    isNumber: true,
    sortValue: ({ longestMs }) => longestMs,
    show: ({ longestMs }) => inSeconds(longestMs),
  },
]

export function MethodCalls({ methods }: { methods: Methods }) {
  return (
    <Table<Methods[number]>
      caption="Calls to Steam by method, the most used first"
      rows={methods}
      keyOf={({ method }) => method}
      empty="There were no calls in the last 24 hours."
      columns={[
        {
          name: 'Method',
          show: ({ method }) => <PageLink to={`/weather?method=${method}`}>{method}</PageLink>,
        },
        ...CALL_COLUMNS,
      ]}
    />
  )
}

export function CallsOfBot({ bot }: { bot: string }) {
  const { shown, refresh } = useAnswer<Json<Weather>>('weather', { bot })
  return (
    <Panel title="Last 24 hours by method">
      <Loaded shown={shown} refresh={refresh}>
        {({ methods }) => <MethodCalls methods={methods} />}
      </Loaded>
    </Panel>
  )
}
