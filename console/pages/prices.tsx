import { GAMES } from '../../contract/games.ts'
import type { FeedsAndHolds, PriceView } from '../../gateway/operations/prices.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { Filters } from '../ui/filters.tsx'
import { ageMs, formatMicros, formatMinor, toWords } from '../ui/format.ts'
import { Facts, Heading, Loaded, Panel, Pill, Time } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { CoveragePanel } from './coverage.tsx'

type ListData = Json<FeedsAndHolds>
type View = Json<PriceView>

export function PricesPage({ query }: { query: URLSearchParams }) {
  const game = query.get('game') ?? 'cs'
  const item = query.get('item') ?? ''
  const { shown, refresh } = useAnswer<ListData>('prices', {})
  return (
    <>
      <Heading title="Prices">
        <GameActs game={game} refresh={refresh} />
      </Heading>
      <Filters
        query={query}
        fields={[
          { name: 'game', label: 'Game', options: GAMES, fallback: 'cs' },
          { name: 'item', label: 'Market hash name' },
        ]}
      />
      {item !== '' && <Item key={game + item} game={game} item={item} />}
      <Loaded shown={shown} refresh={refresh}>
        {({ feeds, holds }) => (
          <>
            <Sources feeds={feeds} />
            <Holds holds={holds} refresh={refresh} />
            <CoveragePanel key={game} game={game} />
          </>
        )}
      </Loaded>
    </>
  )
}

const HOUR_MS = 3_600_000
/**
 * The age from which a source's last success counts as old, as in the alert PricesOld. By default, its prices are used
 * for six hours. Exchange rates get longer, because they are asked for only every six hours.
 */
const oldMs = (feed: string): number => (feed === 'rates' ? 12 : 2) * HOUR_MS

export function Sources({ feeds }: Pick<ListData, 'feeds'>) {
  return (
    <Panel title="Sources">
      <Table
        caption="Sources of prices"
        rows={feeds}
        keyOf={({ source, feed }) => `${source} ${feed}`}
        empty="No source has been asked yet."
        columns={[
          { name: 'Source', sortValue: ({ source }) => source, show: ({ source }) => source },
          { name: 'Feed', sortValue: ({ feed }) => feed, show: ({ feed }) => feed },
          {
            name: 'Last success',
            sortValue: ({ goodAt }) => goodAt,
            show: ({ goodAt, feed }) => (
              <>
                <Time at={goodAt} />{' '}
                {(goodAt === null || ageMs(goodAt) > oldMs(feed)) && <Pill tone="bad">old</Pill>}
              </>
            ),
          },
          {
            name: 'Health',
            show: ({ failures, lastError }) =>
              failures === 0 ? (
                <Pill tone="good">good</Pill>
              ) : (
                <>
                  <Pill tone="bad">failures: {failures}</Pill> <span className="quiet long">{lastError}</span>
                </>
              ),
          },
        ]}
      />
    </Panel>
  )
}

function Holds({ holds, refresh }: Pick<ListData, 'holds'> & { refresh: () => void }) {
  return (
    <Panel title="Price holds">
      <Table
        caption="Items whose price does not follow the sources"
        rows={holds}
        keyOf={({ game, item }) => `${game} ${item}`}
        empty="No price is blocked, frozen or set by hand."
        columns={[
          { name: 'Game', show: (row) => row.game },
          { name: 'Item', show: (row) => row.item ?? 'the whole game' },
          { name: 'Hold', show: ({ hold }) => <Pill tone="warn">{hold}</Pill> },
          { name: 'Since', show: ({ since }) => <Time at={since} /> },
          {
            name: 'Acts',
            show: (row) => (
              <ActButton
                act="price release"
                label="Release"
                does="Ends this hold. The sources decide the price again, unless another hold covers the item."
                needs="support"
                input={() => ({ game: row.game, item: row.item })}
                onDone={refresh}
              />
            ),
          },
        ]}
      />
    </Panel>
  )
}

function GameActs({ game, refresh }: { game: string; refresh: () => void }) {
  return (
    <ActButton
      act="price block"
      label={`Block all of ${game}`}
      does={`Accepts no item of ${game} from now on, not even at prices already shown.`}
      needs="support"
      input={() => ({ game, item: null })}
      onDone={refresh}
    />
  )
}

function Item({ game, item }: { game: string; item: string }) {
  const { shown, refresh } = useAnswer<View>('price', { game, item })
  return (
    <Panel title={item}>
      <Loaded shown={shown} refresh={refresh}>
        {(view) => (
          <>
            <Facts
              facts={[
                ['Priced as', view.pricedAs],
                ['Worth', formatMicros(view.worthUsdMicros)],
                ['Credited', view.credit === null ? '—' : formatMinor(view.credit.amountMinor, 'USD')],
                [
                  'Accepted',
                  view.unavailable === null ? (
                    <Pill key="y" tone="good">
                      yes
                    </Pill>
                  ) : (
                    <Pill key="n" tone="bad">
                      no: {toWords(view.unavailable)}
                    </Pill>
                  ),
                ],
              ]}
            />
            <Table
              caption="Prices by source"
              rows={view.sources}
              keyOf={({ source }) => source}
              empty="No source has a price for it."
              columns={[
                { name: 'Source', show: ({ source }) => source },
                { name: 'Price', isNumber: true, show: ({ usdMicros }) => formatMicros(usdMicros) },
                { name: 'Weekly level', isNumber: true, show: (row) => formatMicros(row.levelUsdMicros) },
                {
                  name: 'Popularity',
                  show: ({ popularity, popularityKind }) => `${popularity} (${toWords(popularityKind)})`,
                },
                { name: 'As of', show: ({ asOf }) => <Time at={asOf} /> },
                {
                  name: 'Used',
                  show: ({ fresh, ageSeconds }) => (
                    <Pill tone={fresh ? 'good' : 'warn'}>
                      {fresh ? 'yes' : ageSeconds < 0 ? 'from the future' : 'too old'}
                    </Pill>
                  ),
                },
              ]}
            />
            <ItemActs game={game} item={item} refresh={refresh} />
          </>
        )}
      </Loaded>
    </Panel>
  )
}

function ItemActs({ game, item, refresh }: { game: string; item: string; refresh: () => void }) {
  const common = { needs: 'support', input: () => ({ game, item }), onDone: refresh } as const
  return (
    <div className="acts">
      <ActButton {...common} act="price block" label="Block" does="Accepts no such item from now on." />
      <ActButton
        {...common}
        act="price freeze"
        label="Freeze"
        does="Keeps the price of the item as it is, even when it gets old."
      />
      <ActButton
        {...common}
        act="price override"
        label="Set a price"
        does="Gives the item a price of your own, before commission."
        needs="operator"
        needsReason
        fields={[{ name: 'usd', label: 'US dollars', hint: 'With its decimals, such as 850.00.' }]}
        input={({ usd }) => ({ game, item, usd })}
      />
    </div>
  )
}
