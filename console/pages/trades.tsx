import type { TradeList } from '../../gateway/operations/trades.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { Filters } from '../ui/filters.tsx'
import { toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Heading, Loaded, Status, Time } from '../ui/parts.tsx'
import { csvShopper, ShopperLink } from '../ui/shopper-link.tsx'
import { type Column, Export, Table } from '../ui/table.tsx'

type Data = Json<TradeList>
type Row = Data['trades'][number]

const COLUMNS: readonly Column<Row>[] = [
  { name: 'Trade', show: ({ tradeId }) => tradeId, csvValue: ({ tradeId }) => tradeId },
  {
    name: 'Deposit',
    show: ({ depositId }) => <PageLink to={`/deposits/${depositId}`}>{depositId}</PageLink>,
    csvValue: ({ depositId }) => depositId,
  },
  {
    name: 'State',
    show: ({ state, reason }) => (
      <>
        <Status name={state} /> {reason !== null && <span className="quiet">{toWords(reason)}</span>}
      </>
    ),
    csvValue: ({ state }) => state,
  },
  {
    name: 'Bot',
    show: ({ botId, bot }) => <PageLink to={`/bots/${botId}`}>{bot}</PageLink>,
    csvValue: ({ bot }) => bot,
  },
  {
    name: 'Shopper',
    show: ({ partnerSteamId }) => <ShopperLink steamId={partnerSteamId} />,
    csvValue: ({ partnerSteamId }) => csvShopper(partnerSteamId),
  },
  {
    name: 'Offer',
    show: ({ offerId }) => offerId ?? <span className="quiet">—</span>,
    csvValue: ({ offerId }) => offerId,
  },
  { name: 'Begun', show: ({ createdAt }) => <Time at={createdAt} />, csvValue: ({ createdAt }) => createdAt },
  {
    name: 'Protected or in escrow until',
    show: ({ until }) => <Time at={until} />,
    csvValue: ({ until }) => until,
  },
]

/** The oldest trades that are open or held, or about which a bot must ask Steam again. */
export function TradesPage({ query }: { query: URLSearchParams }) {
  const bot = query.get('bot')
  const { shown, refresh } = useAnswer<Data>('trades', bot === null ? {} : { bot })
  return (
    <>
      <Heading title="Trades under way" />
      <Filters query={query} fields={[{ name: 'bot', label: 'Number or Steam id of the bot' }]} />
      <Loaded shown={shown} refresh={refresh}>
        {({ trades, isCut }) => (
          <>
            {isCut && <CutNotice bot={bot} />}
            <Table
              caption="Trades under way, oldest first"
              columns={COLUMNS}
              rows={trades}
              keyOf={({ tradeId }) => tradeId}
              empty="Nothing is under way."
            />
            {trades.length > 0 && (
              <div className="list-foot">
                <Export columns={COLUMNS} all={async () => trades} fileName="trades" />
              </div>
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

export const CutNotice = ({ bot }: { bot: string | null }) => (
  <p className="notice">There are more: {bot === null ? 'choose a bot.' : 'these are the oldest.'}</p>
)
