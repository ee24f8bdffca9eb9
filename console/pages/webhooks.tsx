import type { EndpointPage as Answer } from '../../gateway/operations/webhooks.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { allRows, useRows } from '../ui/answer.ts'
import { Filters } from '../ui/filters.tsx'
import { PageLink } from '../ui/link.tsx'
import { Heading, Pill, Status, Time } from '../ui/parts.tsx'
import { type Column, List } from '../ui/table.tsx'

type Page = Json<Answer>
type Row = Page['endpoints'][number]

const columnsWith = (refresh: () => void): readonly Column<Row>[] => [
  {
    name: 'Endpoint',
    show: ({ endpointId }) => <PageLink to={`/webhooks/${endpointId}`}>{endpointId}</PageLink>,
    csvValue: ({ endpointId }) => endpointId,
  },
  {
    name: 'Store',
    show: ({ storeId, store }) => <PageLink to={`/stores/${storeId}`}>{store}</PageLink>,
    csvValue: ({ store }) => store,
  },
  { name: 'Address', show: ({ url }) => <span className="long">{url}</span>, csvValue: ({ url }) => url },
  {
    name: 'State',
    show: ({ state, disabledReason }) => (
      <>
        <Status name={state} /> {disabledReason === 'gone' && <Pill tone="bad">answered 410</Pill>}
      </>
    ),
    csvValue: ({ state }) => state,
  },
  {
    name: 'Last attempt',
    show: (row) => (
      <>
        <Time at={row.lastAttempt?.at ?? null} /> <Pill tone={toneOf(row)}>{resultOf(row)}</Pill>
      </>
    ),
    csvValue: resultOf,
  },
  {
    name: 'Retrying',
    isNumber: true,
    show: ({ retrying, failingSince }) => (
      <>
        {retrying}{' '}
        {failingSince !== null && (
          <span className="quiet">
            since <Time at={failingSince} />
          </span>
        )}
      </>
    ),
    csvValue: ({ retrying }) => retrying,
  },
  { name: 'Given up', isNumber: true, show: ({ givenUp }) => givenUp, csvValue: ({ givenUp }) => givenUp },
  { name: 'Acts', show: (row) => <EndpointActs {...row} refresh={refresh} /> },
]

function resultOf({ lastAttempt }: Row): string {
  if (lastAttempt === null) return 'none yet'
  return lastAttempt.failure ?? String(lastAttempt.status)
}

function toneOf({ lastAttempt }: Row): 'good' | 'bad' | 'plain' {
  if (lastAttempt === null) return 'plain'
  const { status, failure } = lastAttempt
  return failure === null && status !== null && status >= 200 && status < 300 ? 'good' : 'bad'
}

type Endpoint = Pick<Row, 'endpointId' | 'givenUpFrom' | 'givenUpTo'> & { refresh: () => void }

export function EndpointActs({ endpointId, givenUpFrom, givenUpTo, refresh }: Endpoint) {
  return (
    <div className="acts">
      <ActButton
        act="webhook replay"
        label="Replay"
        does="Sends the events of a range again, if the endpoint wants their types."
        needs="support"
        fields={[
          { name: 'from', label: 'First number in the store’s event log', value: givenUpFrom ?? '' },
          { name: 'to', label: 'Last number', value: givenUpTo ?? '' },
        ]}
        input={({ from, to }) => ({ endpointId, fromSequence: Number(from), toSequence: Number(to) })}
        onDone={refresh}
      />
      <ActButton
        act="webhook rotate"
        label="Rotate secret"
        does="Gives the endpoint a new secret. For a day, webhooks are signed with the old secret too."
        needs="operator"
        needsReason
        input={() => ({ endpointId, overlapHours: 24 })}
        onDone={refresh}
        secrets={{ webhookSecret: 'Webhook secret' }}
      />
      <ActButton
        act="webhook remove"
        label="Remove"
        does="Sends nothing more to the endpoint and gives up its waiting events. They stay in the log of the store."
        needs="operator"
        needsReason
        input={() => ({ endpointId })}
        onDone={refresh}
      />
    </div>
  )
}

const rowsOf = ({ endpoints }: Page): readonly Row[] => endpoints

export function WebhooksPage({ query }: { query: URLSearchParams }) {
  const showsFailing = query.get('failing') === '1'
  const rows = useRows<Page, Row>('endpoints', { failing: showsFailing }, rowsOf)
  return (
    <>
      <Heading title="Webhooks" />
      <Filters
        query={query}
        fields={[{ name: 'failing', label: 'Only failing endpoints', type: 'checkbox' }]}
      />
      <List
        caption="Webhook endpoints of all stores, in the order of their numbers"
        columns={columnsWith(rows.refresh)}
        rows={rows}
        keyOf={({ endpointId }) => endpointId}
        empty={showsFailing ? 'No endpoint is failing.' : 'No store has an endpoint yet.'}
        all={() => allRows<Page, Row>('endpoints', { failing: showsFailing }, rowsOf)}
        fileName="webhooks"
      />
    </>
  )
}
