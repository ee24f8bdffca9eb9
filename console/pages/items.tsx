import { majorOf } from '../../contract/money.ts'
import type { DeparturePage } from '../../gateway/operations/departures.ts'
import { ITEM_STATES } from '../../gateway/operations/item-states.ts'
import type { ItemPage } from '../../gateway/operations/items.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { allRows, useRows } from '../ui/answer.ts'
import { Filters } from '../ui/filters.tsx'
import { formatMinor, toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Heading, Pill, Status, Time } from '../ui/parts.tsx'
import { type Column, List } from '../ui/table.tsx'
import { Drift } from './drift.tsx'
import { Sales } from './sales.tsx'
import { Wishes } from './wishes.tsx'

const VIEWS = [
  ['', 'All items'],
  ['wishes', 'Send away'],
  ['departures', 'Departures'],
  ['sales', 'Sales'],
  ['drift', 'Drift'],
] as const

export function ItemsPage({ query }: { query: URLSearchParams }) {
  const show = query.get('show') ?? ''
  return (
    <>
      <Heading title="Items">
        {VIEWS.map(([view, name]) => (
          <PageLink
            key={view}
            className="button small"
            to={view === '' ? '/items' : `/items?show=${view}`}
            isCurrent={view === show}
          >
            {name}
          </PageLink>
        ))}
      </Heading>
      {show === 'wishes' ? (
        <Wishes query={query} />
      ) : show === 'departures' ? (
        <Departures />
      ) : show === 'sales' ? (
        <Sales query={query} />
      ) : show === 'drift' ? (
        <Drift />
      ) : (
        <Items query={query} />
      )}
    </>
  )
}

type Items = Json<ItemPage>
type Item = Items['items'][number]

const ITEM_COLUMNS: readonly Column<Item>[] = [
  {
    name: 'Item',
    show: ({ marketHashName }) => marketHashName,
    csvValue: ({ marketHashName }) => marketHashName,
  },
  { name: 'State', show: ({ state }) => <Status name={state} />, csvValue: ({ state }) => state },
  { name: 'Bot', show: ({ bot }) => bot, csvValue: ({ bot }) => bot },
  {
    name: 'Deposit',
    show: ({ depositId }) => <PageLink to={`/deposits/${depositId}`}>{depositId}</PageLink>,
    csvValue: ({ depositId }) => depositId,
  },
  {
    name: 'Worth',
    isNumber: true,
    show: ({ grossMinor, currency }) => formatMinor(grossMinor, currency),
    csvValue: ({ grossMinor, currency }) => majorOf(grossMinor, currency),
  },
  {
    name: 'Credited',
    isNumber: true,
    show: ({ priceMinor, currency }) => formatMinor(priceMinor, currency),
    csvValue: ({ priceMinor, currency }) => majorOf(priceMinor, currency),
  },
  { name: 'Currency', show: ({ currency }) => currency, csvValue: ({ currency }) => currency },
  {
    name: 'Received',
    show: ({ receivedAt }) => <Time at={receivedAt} />,
    csvValue: ({ receivedAt }) => receivedAt,
  },
  { name: 'Asset', show: ({ assetId }) => assetId ?? '—', csvValue: ({ assetId }) => assetId },
]

const itemsOf = ({ items }: Items): readonly Item[] => items

function Items({ query }: { query: URLSearchParams }) {
  const input = Object.fromEntries(
    ['bot', 'state', 'asset'].flatMap((name) => {
      const value = query.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
  const rows = useRows<Items, Item>('items', input, itemsOf)
  return (
    <>
      <Filters
        query={query}
        fields={[
          { name: 'state', label: 'State', options: ITEM_STATES },
          { name: 'bot', label: 'Bot number or Steam id' },
          { name: 'asset', label: 'Asset' },
        ]}
      />
      <List
        caption="Items that came to a bot, newest first"
        columns={ITEM_COLUMNS}
        rows={rows}
        keyOf={({ item }) => item}
        empty="No item fits this filter."
        all={() => allRows<Items, Item>('items', input, itemsOf)}
        fileName="items"
      />
    </>
  )
}

type DepartureAnswer = Json<DeparturePage>
type Departure = DepartureAnswer['departures'][number]

const departuresOf = ({ departures }: DepartureAnswer): readonly Departure[] => departures

function Departures() {
  const rows = useRows<DepartureAnswer, Departure>('departures', {}, departuresOf)
  const columns: readonly Column<Departure>[] = [
    { name: 'Departure', show: ({ departureId }) => departureId, csvValue: ({ departureId }) => departureId },
    { name: 'Bot', show: ({ bot }) => bot, csvValue: ({ bot }) => bot },
    {
      name: 'To',
      show: ({ partnerSteamId }) => partnerSteamId,
      csvValue: ({ partnerSteamId }) => partnerSteamId,
    },
    { name: 'Stage', show: ({ stage }) => <Status name={stage} />, csvValue: ({ stage }) => stage },
    {
      name: 'Why',
      show: ({ explanation, destination }) =>
        explanation === null ? (
          <Pill tone="bad">unknown</Pill>
        ) : (
          `${toWords(explanation)}${destination === null ? '' : ` ${destination}`}`
        ),
      csvValue: ({ explanation }) => explanation,
    },
    {
      name: 'Items',
      show: ({ items }) => items.map(({ marketHashName, assetId }) => marketHashName ?? assetId).join(', '),
      csvValue: ({ items }) =>
        items.map(({ marketHashName, assetId }) => marketHashName ?? assetId).join(', '),
    },
    { name: 'Began', show: ({ begunAt }) => <Time at={begunAt} />, csvValue: ({ begunAt }) => begunAt },
    {
      name: 'Acts',
      show: ({ departureId, explanation }) =>
        explanation === null && (
          <ActButton
            act="items explain"
            label="Explain"
            does="Stops the alert, because you know why these items left."
            needs="operator"
            needsReason
            input={() => ({ departureId })}
            onDone={rows.refresh}
          />
        ),
    },
  ]
  return (
    <List
      caption="Items that left the bots, newest first"
      columns={columns}
      rows={rows}
      keyOf={({ departureId }) => departureId}
      empty="No item has left a bot yet."
      all={() => allRows<DepartureAnswer, Departure>('departures', {}, departuresOf)}
      fileName="departures"
    />
  )
}
