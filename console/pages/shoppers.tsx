import type { ShopperList } from '../../gateway/operations/shoppers.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { PageLink } from '../ui/link.tsx'
import { Heading, Loaded, Panel, Time } from '../ui/parts.tsx'
import { ShopperLink } from '../ui/shopper-link.tsx'
import { Table } from '../ui/table.tsx'

const STEAM_ID = [{ name: 'steamId', label: 'Steam id', hint: '17 digits.' }] as const

export function ShoppersPage() {
  const { shown, refresh } = useAnswer<Json<ShopperList>>('shoppers', {})
  return (
    <>
      <Heading title="Shoppers">
        <ActButton
          act="shopper deny"
          label="Deny an account"
          does="Takes no more items from the account. Its open offers stay as they are."
          needs="support"
          needsReason
          fields={STEAM_ID}
          input={({ steamId }) => ({ steamId: steamId?.trim() })}
          onDone={refresh}
        />
        <ActButton
          act="shopper erase"
          label="Erase an account"
          does="Erases the account from its deposits. Those that are open, protected, held by Steam, reviewed or at risk keep it, and so do events, the deny-list and credit on release. The answer lists what is kept."
          needs="operator"
          needsReason
          fields={STEAM_ID}
          input={({ steamId }) => ({ steamId: steamId?.trim() })}
          onDone={refresh}
        />
      </Heading>
      <Loaded shown={shown} refresh={refresh}>
        {({ shoppers, onRelease }) => (
          <>
            <Denied shoppers={shoppers} refresh={refresh} />
            <OnRelease shoppers={onRelease} refresh={refresh} />
          </>
        )}
      </Loaded>
    </>
  )
}

type Lists = Json<ShopperList>
type PanelProps<LIST extends keyof Lists> = { shoppers: Lists[LIST]; refresh: () => void }

function Denied({ shoppers, refresh }: PanelProps<'shoppers'>) {
  return (
    <Panel title="May not pay">
      <Table
        caption="Accounts that may not pay, newest first"
        rows={shoppers}
        keyOf={({ steamId }) => steamId}
        empty="No account is denied."
        columns={[
          { name: 'Account', show: ({ steamId }) => <ShopperLink steamId={steamId} /> },
          { name: 'Since', show: ({ deniedAt }) => <Time at={deniedAt} /> },
          { name: 'Why', show: ({ reason }) => reason },
          { name: 'Open offers', show: ({ openTrades }) => <OpenOffers trades={openTrades} /> },
          {
            name: 'Acts',
            show: ({ steamId }) => (
              <ActButton
                act="shopper allow"
                label="Allow"
                does="The account may pay again."
                needs="support"
                input={() => ({ steamId })}
                onDone={refresh}
              />
            ),
          },
        ]}
      />
    </Panel>
  )
}

function OnRelease({ shoppers, refresh }: PanelProps<'onRelease'>) {
  return (
    <Panel title="Took items back">
      <p className="quiet">Their deposits are credited once the items can no longer be taken back.</p>
      <Table
        caption="Accounts that took items back and were not trusted again"
        rows={shoppers}
        keyOf={({ steamId }) => steamId}
        empty="No account waits to be trusted again."
        columns={[
          { name: 'Account', show: ({ steamId }) => <ShopperLink steamId={steamId} /> },
          { name: 'Times', isNumber: true, show: ({ reversals }) => reversals },
          { name: 'Last', show: ({ lastAt }) => <Time at={lastAt} /> },
          {
            name: 'Acts',
            show: ({ steamId }) => (
              <ActButton
                act="shopper trust"
                label="Trust again"
                does="Its deposits are credited by the rules of its stores, until it takes items back again."
                needs="operator"
                needsReason
                input={() => ({ steamId })}
                onDone={refresh}
              />
            ),
          },
        ]}
      />
    </Panel>
  )
}

type Trades = Lists['shoppers'][number]['openTrades']

function OpenOffers({ trades }: { trades: Trades }) {
  if (trades.length === 0) return <span className="quiet">—</span>
  return (
    <ul className="plain-list">
      {trades.map(({ tradeId, depositId }) => (
        <li key={tradeId}>
          <PageLink to={`/deposits/${depositId}`}>Deposit {depositId}</PageLink>
        </li>
      ))}
    </ul>
  )
}
