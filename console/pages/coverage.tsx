import type { Coverage } from '../../gateway/operations/prices.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { words } from '../ui/format.ts'
import { Go } from '../ui/link.tsx'
import { Loaded, Panel } from '../ui/parts.tsx'
import { type Column, Export, Table } from '../ui/table.tsx'

type Data = Json<Coverage>
type Band = Data['bands'][number]

const VERDICTS = ['accepted', 'not_popular', 'no_price', 'in_dispute', 'too_cheap', 'blocked'] as const

const columnsOf = (game: string): readonly Column<Band>[] => [
  { name: 'From', isNumber: true, show: ({ fromUsd }) => `$${fromUsd}`, text: ({ fromUsd }) => fromUsd },
  ...VERDICTS.map((verdict): Column<Band> => {
    return {
      name: words(verdict),
      isNumber: true,
      show: (band) => band[verdict],
      text: (band) => band[verdict],
    }
  }),
  {
    name: 'Such as',
    show: ({ examples }) => (
      <ul className="plain-list">
        {examples.map(({ item, verdict }) => (
          <li key={item}>
            <Go to={`/prices?${new URLSearchParams({ game, item })}`}>{item}</Go>{' '}
            <span className="quiet">{words(verdict)}</span>
          </li>
        ))}
      </ul>
    ),
  },
]

/** How many items of a game are taken, by price, and why the others are not. */
export function CoveragePanel({ game }: { game: string }) {
  const { shown, again } = useAnswer<Data>('coverage', { game }, { isLive: false })
  const columns = columnsOf(game)
  return (
    <Panel title={`What is taken of ${game}`}>
      <Loaded shown={shown} again={again}>
        {({ items, bands }) => (
          <>
            <p className="quiet">{items} items have been named by a source.</p>
            <Table
              caption="Items by price, and why they are not taken"
              columns={columns}
              rows={bands}
              keyOf={({ fromUsd }) => String(fromUsd)}
              empty="No source has named an item yet."
            />
            <div className="list-foot">
              <button type="button" className="button small" onClick={again}>
                Count again
              </button>
              <Export columns={columns} all={async () => bands} fileName={`coverage-${game}`} />
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  )
}
