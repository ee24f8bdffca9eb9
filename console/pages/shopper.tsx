import type { ShopperRecord, ShopperView } from '../../gateway/operations/shoppers.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { formatMinor } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Facts, Heading, Loaded, Panel, Pill, Time } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { DEPOSIT_COLUMNS } from './deposits.tsx'

type Shopper = Json<ShopperView>
type ShopperFacts = Json<ShopperRecord>

export function ShopperPage({ steamId }: { steamId: string }) {
  const { shown, refresh } = useAnswer<Shopper>('shopper', { steamId })
  return (
    <>
      <Heading title={`Shopper ${steamId}`}>
        <PageLink className="button small" to={`/deposits?steamId=${steamId}`}>
          All deposits
        </PageLink>
      </Heading>
      <Loaded shown={shown} refresh={refresh}>
        {(shopper) => (
          <>
            <Panel title={shopper.name ?? steamId} aside={<ShopperStatus shopper={shopper} />}>
              <History shopper={shopper} />
              <ShopperActs shopper={shopper} refresh={refresh} />
            </Panel>
            <Panel title="Newest deposits">
              <Table
                caption="The account’s newest deposits"
                columns={DEPOSIT_COLUMNS}
                rows={shopper.deposits}
                keyOf={({ depositId }) => depositId}
                empty="No deposit names this account."
              />
            </Panel>
          </>
        )}
      </Loaded>
    </>
  )
}

export function ShopperStatus({ shopper: { denied, onRelease, isBot } }: { shopper: ShopperFacts }) {
  return (
    <span>
      {isBot && <Pill tone="warn">a bot of the till</Pill>}{' '}
      {denied !== null && <Pill tone="bad">may not pay</Pill>}{' '}
      {onRelease !== null && <Pill tone="warn">took items back</Pill>}{' '}
      {denied === null && onRelease === null && !isBot && <Pill tone="good">may pay</Pill>}
    </span>
  )
}

export function History({ shopper: { history, money, denied } }: { shopper: ShopperFacts }) {
  return (
    <>
      {denied !== null && <p className="notice notice-bad">May not pay: {denied.reason}</p>}
      <Facts
        facts={[
          ['Trades', history.trades],
          ['Delivered', history.delivered],
          ['Taken back', history.reversed],
          ['Not accepted', history.declined],
          ['Open', history.open],
          ['Stores', history.stores],
          ['First', <Time key="first" at={history.firstAt} />],
          ['Last', <Time key="last" at={history.lastAt} />],
          ...money.flatMap(({ currency, creditedMinor, reversedMinor, heldMinor }) => [
            [`Credited, ${currency}`, formatMinor(creditedMinor, currency)] as const,
            [`Taken back, ${currency}`, formatMinor(reversedMinor, currency)] as const,
            [`Held, ${currency}`, formatMinor(heldMinor, currency)] as const,
          ]),
        ]}
      />
    </>
  )
}

function ShopperActs({
  shopper: { steamId, denied, onRelease },
  refresh,
}: {
  shopper: Shopper
  refresh: () => void
}) {
  const common = { input: () => ({ steamId }), onDone: refresh }
  return (
    <div className="acts">
      {denied === null ? (
        <ActButton
          {...common}
          act="shopper deny"
          label="Deny"
          does="Takes no more items from the account. Its open offers stay as they are."
          needs="support"
          needsReason
        />
      ) : (
        <ActButton
          {...common}
          act="shopper allow"
          label="Allow"
          does="The account may pay again."
          needs="support"
        />
      )}
      {onRelease !== null && (
        <ActButton
          {...common}
          act="shopper trust"
          label="Trust again"
          does="Its deposits are credited by the rules of its stores, until it takes items back again."
          needs="operator"
          needsReason
        />
      )}
      <ActButton
        {...common}
        act="shopper erase"
        label="Erase"
        does="Erases the account from its deposits. Those that are open, protected, held by Steam, reviewed or at risk keep it, and so do events, the deny-list and credit on release. The answer lists what is kept."
        needs="operator"
        needsReason
      />
    </div>
  )
}
