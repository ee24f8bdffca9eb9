import { type ReactNode, useEffect } from 'react'
import type { Findings } from '../../gateway/operations/find.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Heading, Loaded, Panel, Pill, Status, Time } from '../ui/parts.tsx'
import { replacePage } from '../ui/place.ts'
import { ShopperLink } from '../ui/shopper-link.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { DEPOSIT_COLUMNS } from './deposits.tsx'

type Found = Json<Findings>

const COLUMNS: readonly Column<Found['deposits'][number]>[] = [
  { name: 'Found as', show: ({ as }) => as.map((key) => <Pill key={key}>{toWords(key)}</Pill>) },
  ...DEPOSIT_COLUMNS,
]

export function FindPage({ query }: { query: URLSearchParams }) {
  const text = query.get('text') ?? ''
  const { shown, refresh } = useAnswer<Found>('find', { text })
  return (
    <>
      <Heading title="Find" />
      {text === '' ? (
        <p className="empty">
          Search for a link, a deposit, an order, a Steam account, an offer, a trade, an asset, a code, a
          webhook or a name.
        </p>
      ) : shown.kind === 'failed' && shown.failure.kind === 'not_found' ? (
        <p className="empty">{shown.failure.message}</p>
      ) : (
        <Loaded shown={shown} refresh={refresh}>
          {(found) => <Results found={found} />}
        </Loaded>
      )}
    </>
  )
}

/** Returns the page of the only result; undefined if there are several, or if that result has no page of its own. */
function pageOfOnlyResult({
  deposits,
  stores,
  bots,
  shoppers,
  items,
  events,
  departures,
}: Found): string | undefined {
  const places = [
    ...deposits.map(({ depositId }) => `/deposits/${depositId}`),
    ...stores.map(({ storeId }) => `/stores/${storeId}`),
    ...bots.map(({ botId }) => `/bots/${botId}`),
    ...shoppers.map(({ steamId }) => `/shoppers/${steamId}`),
    ...items.map((item) => `/prices?${new URLSearchParams(item)}`),
  ]
  return places.length === 1 && events.length + departures.length === 0 ? places[0] : undefined
}

function Results({ found }: { found: Found }) {
  const { deposits, stores, bots, items, shoppers, events, departures } = found
  const onlyPage = found.isCut ? undefined : pageOfOnlyResult(found)
  useEffect(() => {
    if (onlyPage !== undefined) replacePage(onlyPage)
  }, [onlyPage])
  if (onlyPage !== undefined) return null
  return (
    <>
      {found.isCut && (
        <p className="quiet">There may be more results: enter more, or filter the list of deposits.</p>
      )}
      {deposits.length > 0 && (
        <Panel title="Deposits">
          <Table
            caption="Found deposits"
            rows={deposits}
            keyOf={({ depositId }) => depositId}
            empty=""
            columns={COLUMNS}
          />
        </Panel>
      )}
      <Links
        title="Stores"
        rows={stores}
        keyOf={({ storeId }) => storeId}
        show={({ storeId, name }) => <PageLink to={`/stores/${storeId}`}>{name}</PageLink>}
      />
      <Links
        title="Bots"
        rows={bots}
        keyOf={({ botId }) => botId}
        show={({ botId, name }) => <PageLink to={`/bots/${botId}`}>{name}</PageLink>}
      />
      <Links
        title="Shoppers"
        rows={shoppers}
        keyOf={({ steamId }) => steamId}
        show={({ steamId }) => (
          <>
            <ShopperLink steamId={steamId} />,{' '}
            <PageLink to={`/deposits?steamId=${steamId}`}>all deposits</PageLink>
          </>
        )}
      />
      {events.length > 0 && <Events events={events} />}
      <Links
        title="Items that left a bot"
        rows={departures}
        keyOf={({ departureId }) => departureId}
        show={({ departureId, bot, partnerSteamId }) => (
          <>
            <PageLink to="/items?show=departures">Departure {departureId}</PageLink> of {bot}, to{' '}
            {partnerSteamId}
          </>
        )}
      />
      <Links
        title="Prices"
        rows={items}
        keyOf={({ game, item }) => game + item}
        show={({ game, item }) => (
          <PageLink to={`/prices?${new URLSearchParams({ game, item })}`}>{item}</PageLink>
        )}
      />
    </>
  )
}

type LinksProps<Row> = {
  title: string
  rows: readonly Row[]
  keyOf(row: Row): string
  show(row: Row): ReactNode
}

function Links<Row>({ title, rows, keyOf, show }: LinksProps<Row>) {
  if (rows.length === 0) return null
  return (
    <Panel title={title}>
      <ul className="plain-list">
        {rows.map((row) => (
          <li key={keyOf(row)}>{show(row)}</li>
        ))}
      </ul>
    </Panel>
  )
}

function Events({ events }: { events: Found['events'] }) {
  return (
    <Panel title="Events and their webhooks">
      <Table
        caption="Found events and their webhooks"
        rows={events}
        keyOf={({ eventId }) => eventId}
        empty=""
        columns={[
          { name: 'Event', show: ({ type }) => type },
          { name: 'Event id', show: ({ eventId }) => <span className="long">{eventId}</span> },
          { name: 'Sequence', isNumber: true, show: ({ sequence }) => sequence ?? '—' },
          {
            name: 'Deposit',
            show: ({ depositId }) =>
              depositId === null ? '—' : <PageLink to={`/deposits/${depositId}`}>{depositId}</PageLink>,
          },
          { name: 'When', show: ({ createdAt }) => <Time at={createdAt} /> },
          {
            name: 'Webhooks',
            show: ({ deliveries }) =>
              deliveries.map(({ deliveryId, endpointId, state, attempts, lastResult }) => (
                <p key={deliveryId}>
                  <PageLink to={`/webhooks/${endpointId}`}>endpoint {endpointId}</PageLink>{' '}
                  <Status name={state} />{' '}
                  <span className="quiet">
                    attempts: {attempts}
                    {lastResult !== null && `, ${lastResult}`}
                  </span>
                </p>
              )),
          },
        ]}
      />
    </Panel>
  )
}
