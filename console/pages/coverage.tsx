import { majorOf } from '../../contract/money.ts'
import type { Coverage } from '../../gateway/operations/prices.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { formatMinor, toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Loaded, Panel } from '../ui/parts.tsx'
import { type Column, Export, Table } from '../ui/table.tsx'

type Data = Json<Coverage>
type Band = Data['bands'][number]

const VERDICTS = ['accepted', 'not_popular', 'no_price', 'in_dispute', 'too_cheap', 'blocked'] as const

const columnsOf = (game: string): readonly Column<Band>[] => [
  { name: 'From', isNumber: true, show: ({ fromUsd }) => `$${fromUsd}`, csvValue: ({ fromUsd }) => fromUsd },
  ...VERDICTS.map((verdict): Column<Band> => {
    return {
      name: toWords(verdict),
      isNumber: true,
      show: (band) => band[verdict],
      csvValue: (band) => band[verdict],
    }
  }),
  {
    name: 'Examples',
    show: ({ examples }) => (
      <ul className="plain-list">
        {examples.map(({ item, verdict }) => (
          <li key={item}>
            <PageLink to={`/prices?${new URLSearchParams({ game, item })}`}>{item}</PageLink>{' '}
            <span className="quiet">{toWords(verdict)}</span>
          </li>
        ))}
      </ul>
    ),
  },
]

type Loss = Data['losses'][number]

const LOSS_COLUMNS: readonly Column<Loss>[] = [
  { name: 'Item', show: ({ item }) => item, csvValue: ({ item }) => item },
  { name: 'Sold in 30 days', isNumber: true, show: ({ sales }) => sales, csvValue: ({ sales }) => sales },
  {
    name: 'Result',
    isNumber: true,
    show: ({ resultMinor, currency }) => formatMinor(resultMinor, currency),
    csvValue: ({ resultMinor, currency }) => majorOf(resultMinor, currency),
  },
]

/** Shows how many items of a game are accepted in each price range, why others are not, and which lost most money. */
export function CoveragePanel({ game }: { game: string }) {
  const { shown, refresh } = useAnswer<Data>('coverage', { game }, { isLive: false })
  const columns = columnsOf(game)
  return (
    <Loaded shown={shown} refresh={refresh}>
      {({ items, bands, losses }) => (
        <>
          <Panel title={`Accepted items of ${game}`}>
            <p className="quiet">{items} items have been listed by a source.</p>
            <Table
              caption="Items by price, and why some are refused"
              columns={columns}
              rows={bands}
              keyOf={({ fromUsd }) => String(fromUsd)}
              empty="No source has listed an item yet."
            />
            <div className="list-foot">
              <button type="button" className="button small" onClick={refresh}>
                Count again
              </button>
              <Export columns={columns} all={async () => bands} fileName={`coverage-${game}`} />
            </div>
          </Panel>
          <Panel title="Sold furthest below their cost">
            <Table
              caption="Items that lost the most in the last 30 days"
              columns={LOSS_COLUMNS}
              rows={losses}
              keyOf={({ item, currency }) => `${currency} ${item}`}
              empty="No item lost money in 30 days."
            />
          </Panel>
        </>
      )}
    </Loaded>
  )
}
