import type { Overview } from '../../gateway/console/overview-store.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { formatMinor, formatTime, words } from '../ui/format.ts'
import { Go } from '../ui/link.tsx'
import { Heading, Loaded, Panel, Pill, Status } from '../ui/parts.tsx'
import { VitalsPanel } from './vitals.tsx'

type Data = Json<Overview>

export function OverviewPage() {
  const { shown, again } = useAnswer<Data>('overview', {})
  return (
    <>
      <Heading title="Overview" />
      <Loaded shown={shown} again={again}>
        {(data) => (
          <>
            <NeedsPanel needs={data.needs} />
            <Today data={data} />
            <Steps funnel={data.funnel} />
            <VitalsPanel vitals={data.vitals} />
          </>
        )}
      </Loaded>
    </>
  )
}

/** The meaning of each number, and where somebody sees to it. The worst first. */
const NEEDS: readonly (readonly [keyof Data['needs'], string, string])[] = [
  ['ledgerDifferences', 'differences in the ledger', '/money'],
  ['departuresUnexplained', 'departures of items that nobody explained', '/items?show=departures'],
  ['botsDead', 'bots whose token Steam refuses', '/bots'],
  ['tradesOverdue', 'trades that nobody takes care of', '/deposits?needs=1'],
  ['endpointsLost', 'webhook endpoints that are gone', '/webhooks'],
  ['webhooksLate', 'webhooks that are late', '/webhooks'],
  ['botsUnheld', 'active bots that cannot be reached', '/bots'],
  ['proposalsOpen', 'acts that wait for a second operator', '/settings'],
  ['feedsFailing', 'sources of prices that fail', '/prices'],
  ['tokensEndSoon', 'bots whose token ends within 30 days', '/bots'],
]

function NeedsPanel({ needs }: { needs: Data['needs'] }) {
  const open = NEEDS.filter(([name]) => needs[name] > 0)
  return (
    <Panel title="Needs a person">
      {open.length === 0 ? (
        <p className="empty">Nothing needs you now.</p>
      ) : (
        <ul className="needs">
          {open.map(([name, what, to]) => (
            <li key={name}>
              <Go to={to}>
                <Pill tone={name === 'ledgerDifferences' ? 'bad' : 'warn'}>{needs[name]}</Pill> {what}
              </Go>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Today({ data: { hours, statuses, credited } }: { data: Data }) {
  return (
    <Panel title="Last 24 hours">
      <div className="tiles">
        {credited.map(({ currency, amountMinor, deposits }) => (
          <div className="tile" key={currency}>
            <span className="tile-value">{formatMinor(amountMinor, currency)}</span>
            <span className="quiet">credited by {deposits} deposits</span>
          </div>
        ))}
        {credited.length === 0 && <p className="empty">Nothing was credited yet.</p>}
        {statuses.map(({ status, count }) => (
          <Go className="tile" key={status} to={`/deposits?status=${status}`}>
            <span className="tile-value">{count}</span>
            <Status of={status} />
          </Go>
        ))}
      </div>
      {hours.some(({ opened }) => opened > 0) && <Curve hours={hours} />}
    </Panel>
  )
}

const [WIDTH, HEIGHT] = [720, 90]

/** Bars by hour; the table below says the same in numbers. */
function Curve({ hours }: { hours: Data['hours'] }) {
  const most = Math.max(1, ...hours.map(({ opened }) => opened))
  const width = WIDTH / Math.max(1, hours.length)
  const bar = (count: number, index: number, className: string) => {
    const height = (count / most) * HEIGHT
    return (
      <rect
        key={`${className}${index}`}
        className={className}
        x={index * width + 1}
        y={HEIGHT - height}
        width={width - 2}
        height={height}
      />
    )
  }
  return (
    <>
      <svg className="curve" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {hours.map(({ opened }, index) => bar(opened, index, 'bar-opened'))}
        {hours.map(({ succeeded }, index) => bar(succeeded, index, 'bar-succeeded'))}
      </svg>
      <details>
        <summary>Hour by hour, in numbers</summary>
        <table className="small-table">
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Opened</th>
              <th scope="col">Succeeded</th>
            </tr>
          </thead>
          <tbody>
            {hours.map(({ at, opened, succeeded }) => (
              <tr key={at}>
                <th scope="row">{formatTime(at)}</th>
                <td>{opened}</td>
                <td>{succeeded}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  )
}

const STEPS = ['opened', 'linked', 'priced', 'offered', 'paid'] as const

const STEP_WORDS: Record<(typeof STEPS)[number], string> = {
  opened: 'opened by a store',
  linked: 'gave a trade link',
  priced: 'saw prices',
  offered: 'got an offer',
  paid: 'paid',
}

function Steps({ funnel }: { funnel: Data['funnel'] }) {
  return (
    <Panel title="Where shoppers leave">
      <ol className="steps-of-day">
        {STEPS.map((step) => {
          const percent = funnel.opened === 0 ? 0 : Math.round((funnel[step] / funnel.opened) * 100)
          return (
            <li key={step}>
              <span>{words(STEP_WORDS[step])}</span>
              <progress max={100} value={percent} aria-label={STEP_WORDS[step]} />
              <span className="number">
                {funnel[step]} <span className="quiet">({percent}%)</span>
              </span>
            </li>
          )
        })}
      </ol>
    </Panel>
  )
}
