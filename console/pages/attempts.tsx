import type { AttemptPage, EndpointPage } from '../../gateway/operations/webhooks.ts'
import type { Json } from '../api/json.ts'
import { allRows, useAnswer, useRows } from '../ui/answer.ts'
import { PageLink } from '../ui/link.tsx'
import { Facts, Heading, Loaded, Panel, Pill, Status, Time } from '../ui/parts.tsx'
import { type Column, List } from '../ui/table.tsx'
import { EndpointActs } from './webhooks.tsx'

type Page = Json<AttemptPage>
type Row = Page['attempts'][number]

const isGood = ({ failure, status }: Row): boolean =>
  failure === null && status !== null && status >= 200 && status < 300

const resultOf = ({ failure, status }: Row): string => failure ?? String(status)

const COLUMNS: readonly Column<Row>[] = [
  { name: 'When', show: ({ at }) => <Time at={at} />, csvValue: ({ at }) => at },
  { name: 'Event', show: ({ type }) => type, csvValue: ({ type }) => type },
  {
    name: 'Event id',
    show: ({ eventId }) => <span className="long">{eventId}</span>,
    csvValue: (row) => row.eventId,
  },
  {
    name: 'Sequence',
    isNumber: true,
    show: ({ sequence }) => sequence ?? '—',
    csvValue: ({ sequence }) => sequence,
  },
  { name: 'Attempt', isNumber: true, show: ({ attempt }) => attempt, csvValue: ({ attempt }) => attempt },
  {
    name: 'Result',
    show: (row) => <Pill tone={isGood(row) ? 'good' : 'bad'}>{resultOf(row)}</Pill>,
    csvValue: resultOf,
  },
  {
    name: 'Duration, ms',
    isNumber: true,
    show: ({ durationMs }) => durationMs,
    csvValue: ({ durationMs }) => durationMs,
  },
  {
    name: 'Answer',
    show: ({ answer }) => <span className="long">{answer ?? '—'}</span>,
    csvValue: ({ answer }) => answer,
  },
]

const rowsOf = ({ attempts }: Page): readonly Row[] => attempts

function About({ endpointId }: { endpointId: string }) {
  const { shown, refresh } = useAnswer<Json<EndpointPage>>('endpoints', { endpointId })
  return (
    <Panel title="The endpoint">
      <Loaded shown={shown} refresh={refresh}>
        {({ endpoints: [endpoint] }) =>
          endpoint === undefined ? (
            <p className="empty">The endpoint was removed, or never existed.</p>
          ) : (
            <>
              <Facts
                facts={[
                  [
                    'Store',
                    <PageLink key="s" to={`/stores/${endpoint.storeId}`}>
                      {endpoint.store}
                    </PageLink>,
                  ],
                  [
                    'Address',
                    <span key="u" className="long">
                      {endpoint.url}
                    </span>,
                  ],
                  ['State', <Status key="t" name={endpoint.disabledReason ?? endpoint.state} />],
                  ['Retrying', endpoint.retrying],
                  ['Failing since', <Time key="f" at={endpoint.failingSince} />],
                  ['Given up', endpoint.givenUp],
                ]}
              />
              <EndpointActs {...endpoint} refresh={refresh} />
            </>
          )
        }
      </Loaded>
    </Panel>
  )
}

export function AttemptsPage({ endpointId }: { endpointId: string }) {
  const input = { endpointId }
  const rows = useRows<Page, Row>('attempts', input, rowsOf)
  return (
    <>
      <Heading title={`Endpoint ${endpointId}`}>
        <PageLink className="button small" to="/webhooks">
          All endpoints
        </PageLink>
      </Heading>
      <About endpointId={endpointId} />
      <List
        caption="Attempts at the endpoint, newest first"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ attemptId }) => attemptId}
        empty="No attempt is on record: nothing was sent to this endpoint lately."
        all={() => allRows<Page, Row>('attempts', input, rowsOf)}
        fileName={`webhook-attempts-${endpointId}`}
      />
    </>
  )
}
