import type { OverviewView } from '../../gateway/operations/overview.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { Bars } from '../ui/bars.tsx'
import { formatMinor, toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Heading, Loaded, Panel, Pill, Status } from '../ui/parts.tsx'
import { VitalsPanel } from './vitals.tsx'

type Data = Json<OverviewView>

export function OverviewPage() {
  const { shown, refresh } = useAnswer<Data>('overview', {})
  return (
    <>
      <Heading title="Overview" />
      <Loaded shown={shown} refresh={refresh}>
        {(data) => (
          <>
            <NeedsPanel tasks={data.open} />
            <Today data={data} />
            <Steps funnel={data.funnel} />
            <VitalsPanel vitals={data.vitals} />
          </>
        )}
      </Loaded>
    </>
  )
}

const PAGE_OF_TASK: Record<Data['open'][number]['kind'], string> = {
  restoreUnfinished: '/weather',
  ledgerDifferences: '/money',
  departuresUnexplained: '/items?show=departures',
  itemsMissing: '/items?show=drift',
  vaultNeeds: '/items?show=sales',
  botsDead: '/bots',
  tradesOverdue: '/deposits?needs=1',
  endpointsLost: '/webhooks?failing=1',
  endpointsFailing: '/webhooks?failing=1',
  webhooksLate: '/webhooks?failing=1',
  botsUnheld: '/bots',
  botsBarred: '/bots',
  storesAtLimit: '/money',
  shoppersTookBack: '/shoppers',
  proposalsOpen: '/settings',
  feedsFailing: '/prices',
  tokensEndSoon: '/bots',
}

function NeedsPanel({ tasks }: { tasks: Data['open'] }) {
  return (
    <Panel title="Needs a person">
      {tasks.length === 0 ? (
        <p className="empty">Nothing needs you now.</p>
      ) : (
        <ul className="needs">
          {tasks.map(({ kind, count, text }) => (
            <li key={kind}>
              <PageLink to={PAGE_OF_TASK[kind]}>
                <Pill tone={kind === 'ledgerDifferences' ? 'bad' : 'warn'}>{count}</Pill> {text}
              </PageLink>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Today({ data: { hours, statuses, credited } }: { data: Data }) {
  return (
    <Panel title="Deposits opened in the last 24 hours">
      <div className="tiles">
        {credited.map(({ currency, amountMinor, deposits }) => (
          <div className="tile" key={currency}>
            <span className="tile-value">{formatMinor(amountMinor, currency)}</span>
            <span className="quiet">credited by {deposits === 1 ? '1 deposit' : `${deposits} deposits`}</span>
          </div>
        ))}
        {credited.length === 0 && <p className="empty">None of them has been credited yet.</p>}
        {statuses.map(({ status, count }) => (
          <PageLink className="tile" key={status} to={`/deposits?status=${status}`}>
            <span className="tile-value">{count}</span>
            <Status name={status} />
          </PageLink>
        ))}
      </div>
      {hours.some(({ opened }) => opened > 0) && (
        <Bars
          rows={hours}
          height={({ opened }) => opened}
          highlight={{ height: ({ succeeded }) => succeeded, tone: 'good' }}
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
              <span>{toWords(STEP_WORDS[step])}</span>
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
