import type { Findings } from '../../gateway/operations/find.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { words } from '../ui/format.ts'
import { Go } from '../ui/link.tsx'
import { Heading, Loaded, Panel, Pill } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { DEPOSIT_COLUMNS } from './deposits.tsx'

type Found = Json<Findings>

const COLUMNS: readonly Column<Found['deposits'][number]>[] = [
  { name: 'Found as', show: ({ as }) => as.map((key) => <Pill key={key}>{words(key)}</Pill>) },
  ...DEPOSIT_COLUMNS,
]

export function FindPage({ query }: { query: URLSearchParams }) {
  const text = query.get('text') ?? ''
  const { shown, again } = useAnswer<Found>('find', { text })
  return (
    <>
      <Heading title="Find" />
      {text === '' ? (
        <p className="empty">
          A link, a deposit, an order, a Steam account, an offer, a trade, an asset, a code or a name.
        </p>
      ) : shown.kind === 'failed' && shown.failure.kind === 'not_found' ? (
        <p className="empty">{shown.failure.message}</p>
      ) : (
        <Loaded shown={shown} again={again}>
          {(found) => <Everything found={found} />}
        </Loaded>
      )}
    </>
  )
}

function Everything({ found }: { found: Found }) {
  const { deposits, stores, bots, items, shoppers } = found
  return (
    <>
      {found.isCut && <p className="quiet">There is more than is shown: say more of it.</p>}
      {deposits.length > 0 && (
        <Panel title="Deposits">
          <Table
            caption="Deposits that were found"
            rows={deposits}
            keyOf={({ depositId }) => depositId}
            empty=""
            columns={COLUMNS}
          />
        </Panel>
      )}
      {stores.length > 0 && (
        <Panel title="Stores">
          <ul className="plain-list">
            {stores.map(({ storeId, name }) => (
              <li key={storeId}>
                <Go to={`/stores/${storeId}`}>{name}</Go>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {bots.length > 0 && (
        <Panel title="Bots">
          <ul className="plain-list">
            {bots.map(({ botId, name }) => (
              <li key={botId}>
                <Go to="/bots">{name}</Go>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {shoppers.length > 0 && (
        <Panel title="Shoppers">
          <ul className="plain-list">
            {shoppers.map(({ steamId }) => (
              <li key={steamId}>
                <Go to={`/deposits?steamId=${steamId}`}>All deposits of {steamId}</Go>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {items.length > 0 && (
        <Panel title="Prices">
          <ul className="plain-list">
            {items.map(({ game, item }) => (
              <li key={game + item}>
                <Go to={`/prices?${new URLSearchParams({ game, item })}`}>{item}</Go>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  )
}
