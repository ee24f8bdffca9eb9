import type { Overview } from '../../gateway/console/overview-store.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { Bars } from '../ui/bars.tsx'
import { formatMinor, words } from '../ui/format.ts'
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

/** The meaning of each number, and the page that deals with it. The worst first. */
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
      {hours.some(({ opened }) => opened > 0) && (
        <Bars
          rows={hours}
          most={({ opened }) => opened}
          part={{ of: ({ succeeded }) => succeeded, tone: 'good' }}
          columns={[
            ['Opened', ({ opened }) => opened],
            ['Succeeded', ({ succeeded }) => succeeded],
          ]}
        />
      )}
    </Panel>
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
