import type { Overview } from '../../gateway/operations/overview-store.ts'
import type { Json } from '../api/json.ts'
import { Panel, Pill, type Tone } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'

type Vital = Json<Overview>['vitals'][number]
type Name = Vital['metric']

/**
 * The limits in the definitions of these metrics: good up to the first value, poor above the second. In milliseconds,
 * except CLS, which has no unit.
 */
const BOUNDS: Record<Name, readonly [good: number, poor: number]> = {
  LCP: [2_500, 4_000],
  INP: [200, 500],
  CLS: [0.1, 0.25],
  FCP: [1_800, 3_000],
  TTFB: [800, 1_800],
}

const NAMES: readonly (readonly [Name, string])[] = [
  ['LCP', 'Largest part shown'],
  ['INP', 'Answer to a tap'],
  ['CLS', 'Layout shift'],
  ['FCP', 'First part shown'],
  ['TTFB', 'First byte'],
]

const SCREENS: Record<Vital['screen'], string> = {
  deposit: 'Deposit',
  help: 'Help',
  landing: 'Landing',
  other: 'Other',
}

type Row = { screen: Vital['screen']; device: Vital['device']; byMetric: Map<Name, Vital> }

export function VitalsPanel({ vitals }: { vitals: readonly Vital[] }) {
  const rows = [...Map.groupBy(vitals, ({ screen, device }) => `${screen} ${device}`).values()].flatMap(
    (group): Row[] => {
      const [first] = group
      if (first === undefined) return []
      return [
        {
          screen: first.screen,
          device: first.device,
          byMetric: new Map(group.map((each) => [each.metric, each])),
        },
      ]
    },
  )
  return (
    <Panel title="Page speed">
      <p className="quiet">For shoppers in the last 7 days. Three in four pages are at least this fast.</p>
      <Table
        caption="Speed of each page, by class of device"
        rows={rows}
        keyOf={({ screen, device }) => `${screen} ${device}`}
        empty="No page was measured in the last 7 days."
        columns={[
          { name: 'Page', show: ({ screen }) => SCREENS[screen] },
          { name: 'Device', show: ({ device }) => device },
          ...NAMES.map(([metric, name]) => ({
            name,
            isNumber: true,
            show: ({ byMetric }: Row) => <Figure vital={byMetric.get(metric)} />,
          })),
          {
            name: 'Pages',
            isNumber: true,
            // Each page reports TTFB once, but can report a layout shift several times.
            show: ({ byMetric }: Row) => byMetric.get('TTFB')?.pages ?? 0,
          },
        ]}
      />
    </Panel>
  )
}

function Figure({ vital }: { vital: Vital | undefined }) {
  if (vital === undefined) return <span className="quiet">—</span>
  const { metric, p75 } = vital
  const [good, poor] = BOUNDS[metric]
  const tone: Tone = p75 <= good ? 'good' : p75 <= poor ? 'warn' : 'bad'
  const word = { good: 'good', warn: 'could be better', bad: 'poor', plain: '' }[tone]
  const figure =
    metric === 'CLS' ? p75.toFixed(2) : p75 < 1_000 ? `${p75} ms` : `${(p75 / 1_000).toFixed(1)} s`
  return (
    <>
      {figure} <Pill tone={tone}>{word}</Pill>
    </>
  )
}
