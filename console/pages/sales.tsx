import { type Currency, majorOf } from '../../contract/money.ts'
import type { SalesReport } from '../../gateway/operations/sales.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { Filters } from '../ui/filters.tsx'
import { formatMinor } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Loaded, Panel, Pill, Status, Time } from '../ui/parts.tsx'
import { periodOf } from '../ui/period.ts'
import { type Column, Export, Table } from '../ui/table.tsx'
import { MarketSwitches } from './markets.tsx'

type Data = Json<SalesReport>
type Sale = Data['sales'][number]

/** The amount that the market pays. For a sale that was taken back, that is only its refund. */
const proceedsOf = ({ state, receivedMinor, refundMinor }: Sale): number | null =>
  state === 'reversed' ? refundMinor : receivedMinor

export const COLUMNS: readonly Column<Sale>[] = [
  {
    name: 'Item',
    show: ({ marketHashName }) => marketHashName,
    csvValue: ({ marketHashName }) => marketHashName,
  },
  { name: 'Market', show: ({ market }) => market, csvValue: ({ market }) => market },
  { name: 'State', show: ({ state }) => <Status name={state} />, csvValue: ({ state }) => state },
  {
    name: 'Deposit',
    show: ({ depositId }) => <PageLink to={`/deposits/${depositId}`}>{depositId}</PageLink>,
    csvValue: ({ depositId }) => depositId,
  },
  {
    name: 'Price',
    isNumber: true,
    show: ({ priceMinor, currency }) => formatMinor(priceMinor, currency),
    csvValue: ({ priceMinor, currency }) => majorOf(priceMinor, currency),
  },
  {
    name: 'Proceeds',
    isNumber: true,
    show: (sale) => formatMinor(proceedsOf(sale), sale.currency),
    csvValue(sale) {
      const proceeds = proceedsOf(sale)
      return proceeds === null ? null : majorOf(proceeds, sale.currency)
    },
  },
  {
    name: 'Cost',
    isNumber: true,
    show: ({ costMinor, costCurrency }) => formatMinor(costMinor, costCurrency),
    csvValue: ({ costMinor, costCurrency }) => majorOf(costMinor, costCurrency),
  },
  {
    name: 'Result',
    isNumber: true,
    show: ({ resultMinor, currency }) => formatMinor(resultMinor, currency),
    csvValue: ({ resultMinor, currency }) => (resultMinor === null ? null : majorOf(resultMinor, currency)),
  },
  { name: 'Currency', show: ({ currency }) => currency, csvValue: ({ currency }) => currency },
  {
    name: 'Cost currency',
    show: ({ costCurrency }) => costCurrency,
    csvValue: ({ costCurrency }) => costCurrency,
  },
  { name: 'Sold', show: ({ soldAt }) => <Time at={soldAt} />, csvValue: ({ soldAt }) => soldAt },
]

export function Sales({ query }: { query: URLSearchParams }) {
  const { shown, refresh } = useAnswer<Data>('sales', periodOf(query), { isLive: false })
  return (
    <>
      <Filters
        query={query}
        fields={[
          { name: 'from', label: 'From (UTC)', type: 'date' },
          { name: 'to', label: 'Before (UTC)', type: 'date' },
        ]}
      />
      <Loaded shown={shown} refresh={refresh}>
        {({ sales, totals, markets, isCut }) => (
          <>
            <Totals totals={totals} />
            <Markets markets={markets} />
            <MarketSwitches />
            <Panel title="Sales">
              {isCut && (
                <p className="notice">
                  The period has more sales than the {sales.length} counted here: choose a shorter one.
                </p>
              )}
              <Table
                caption="Sales, oldest first"
                columns={COLUMNS}
                rows={sales.slice(0, MOST_SHOWN)}
                keyOf={({ saleId }) => saleId}
                empty="Nothing was sold in this period."
              />
              {sales.length > MOST_SHOWN && (
                <p className="quiet">
                  The first {MOST_SHOWN}; the CSV file has all {sales.length}.
                </p>
              )}
              {sales.length > 0 && (
                <div className="list-foot">
                  <Export columns={COLUMNS} all={async () => sales} fileName="sales" />
                </div>
              )}
            </Panel>
          </>
        )}
      </Loaded>
    </>
  )
}

/** The most sales in the table. The totals and the CSV file have all that the server sent. */
const MOST_SHOWN = 500

function Totals({ totals }: Pick<Data, 'totals'>) {
  return (
    <Panel title="Totals">
      <Table
        caption="Totals by market, game and week"
        rows={totals}
        keyOf={({ by, name, currency }) => by + name + currency}
        empty="No sale in this period has a result."
        columns={[
          { name: 'By', show: ({ by, name }) => `${by} ${name}` },
          { name: 'Sales', isNumber: true, show: ({ sales }) => sales },
          {
            name: 'Proceeds',
            isNumber: true,
            show: ({ broughtMinor, currency }) => formatMinor(broughtMinor, currency),
          },
          {
            name: 'Fees',
            isNumber: true,
            show: ({ feesMinor, currency }) => formatMinor(feesMinor, currency),
          },
          {
            name: 'Result',
            isNumber: true,
            show: ({ resultMinor, currency }) => formatMinor(resultMinor, currency),
          },
        ]}
      />
    </Panel>
  )
}

export function Markets({ markets }: Pick<Data, 'markets'>) {
  return (
    <Panel title="At the markets">
      <Table
        caption="Booked balances at the markets, and their differences from the markets’ own figures"
        rows={markets}
        keyOf={({ market, currency }) => market + currency}
        empty="No market has money of yours."
        columns={[
          { name: 'Market', show: ({ market }) => market },
          {
            name: 'Settling',
            isNumber: true,
            show: ({ settlingMinor, currency }) => formatMinor(settlingMinor, currency),
          },
          {
            name: 'Free',
            isNumber: true,
            show: ({ freeMinor, currency }) => formatMinor(freeMinor, currency),
          },
          {
            name: 'Fees',
            isNumber: true,
            show: ({ feesMinor, currency }) => formatMinor(feesMinor, currency),
          },
          {
            name: 'Settling differs by',
            show: ({ settlingDifferenceMinor, settlingMayBeRounding, currency }) => (
              <Difference
                byMinor={settlingDifferenceMinor}
                mayBeRounding={settlingMayBeRounding}
                currency={currency}
              />
            ),
          },
          {
            name: 'Free differs by',
            show: ({ freeDifferenceMinor, freeMayBeRounding, currency }) => (
              <Difference
                byMinor={freeDifferenceMinor}
                mayBeRounding={freeMayBeRounding}
                currency={currency}
              />
            ),
          },
          { name: 'Reported', show: ({ saidAt }) => <Time at={saidAt} /> },
        ]}
      />
    </Panel>
  )
}

type DifferenceParts = { byMinor: number | null; mayBeRounding: boolean; currency: Currency }

/** The market's own figure, less that of the books. */
function Difference({ byMinor, mayBeRounding, currency }: DifferenceParts) {
  if (byMinor === null) return 'not reported'
  const text = formatMinor(byMinor, currency)
  return (
    <Pill tone={byMinor === 0 || mayBeRounding ? 'good' : 'bad'}>
      {mayBeRounding ? `${text}, may be rounding` : text}
    </Pill>
  )
}
