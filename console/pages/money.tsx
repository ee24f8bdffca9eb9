import { NEAR_LIMIT } from '../../contract/limits.ts'
import type { Money } from '../../gateway/operations/money-store.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { formatMinor, toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Heading, Loaded, Panel, Pill, Time } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'

type Data = Json<Money>

export function MoneyPage() {
  const { shown, refresh } = useAnswer<Data>('money', {})
  return (
    <>
      <Heading title="Money" />
      <Loaded shown={shown} refresh={refresh}>
        {(data) => (
          <>
            <Check check={data.check} />
            {data.isCut && <p className="notice">Not all stores are shown: see the list of stores.</p>}
            <Stores balances={data.balances} />
            <Risk atRisk={data.atRisk} />
            <OperatorAccounts accounts={data.own} />
          </>
        )}
      </Loaded>
    </>
  )
}

function Check({ check }: { check: Data['check'] }) {
  const differences = check?.differences ?? 0
  return (
    <Panel
      title="Ledger check"
      aside={
        <Pill tone={differences > 0 ? 'bad' : check?.completeAt == null ? 'warn' : 'good'}>
          {differences > 0
            ? `${differences} ${differences === 1 ? 'difference' : 'differences'}`
            : check?.completeAt == null
              ? 'not yet'
              : 'no differences'}
        </Pill>
      }
    >
      <p>
        Accounts, trades, deposits and the custody of every item are recomputed by code that did not write
        them.{' '}
        {check?.completeAt == null ? (
          'No check has completed yet.'
        ) : (
          <>
            The last complete check ended <Time at={check.completeAt} />; newer entries are checked as they
            come.
          </>
        )}
      </p>
      {differences > 0 && (
        <p>
          Differences are defects of the till: <code>tradetill ledger verify</code> lists them.
        </p>
      )}
    </Panel>
  )
}

function Stores({ balances }: Pick<Data, 'balances'>) {
  return (
    <Panel title="Store balances">
      <Table
        caption="Balances of stores"
        rows={balances}
        keyOf={({ storeId, currency }) => storeId + currency}
        empty="Nothing has been credited yet."
        columns={[
          {
            name: 'Store',
            show: ({ storeId, store }) => <PageLink to={`/stores/${storeId}`}>{store}</PageLink>,
          },
          {
            name: 'Available',
            isNumber: true,
            sortValue: ({ availableMinor }) => availableMinor,
            show: ({ availableMinor, currency }) => formatMinor(availableMinor, currency),
          },
          {
            name: 'Held',
            isNumber: true,
            sortValue: ({ heldMinor }) => heldMinor,
            show: ({ heldMinor, currency }) => formatMinor(heldMinor, currency),
          },
        ]}
      />
    </Panel>
  )
}

type AtRisk = Data['atRisk'][number]

const shareOf = ({ usdMinor, limitUsdMinor }: AtRisk): number => usdMinor / Math.max(1, limitUsdMinor)

const isNearItsLimit = (row: AtRisk): boolean => row.limitUsdMinor > 0 && shareOf(row) >= NEAR_LIMIT

function Risk({ atRisk }: Pick<Data, 'atRisk'>) {
  return (
    <Panel title="At risk">
      <p className="quiet">
        Credit that uses a store’s limit: given while Steam can still reverse the trade, or lost to a reversal
        some time ago.
      </p>
      <Table
        caption="Credit at risk by store"
        rows={atRisk}
        keyOf={({ storeId }) => storeId}
        empty="There is no store yet."
        columns={[
          {
            name: 'Store',
            show: ({ storeId, store }) => <PageLink to={`/stores/${storeId}`}>{store}</PageLink>,
          },
          {
            name: 'At risk',
            isNumber: true,
            sortValue: ({ usdMinor }) => usdMinor,
            show: ({ usdMinor }) => formatMinor(usdMinor, 'USD'),
          },
          {
            name: 'Limit',
            isNumber: true,
            sortValue: ({ limitUsdMinor }) => limitUsdMinor,
            show: ({ limitUsdMinor }) => formatMinor(limitUsdMinor, 'USD'),
          },
          {
            name: 'Used',
            sortValue: shareOf,
            show: (row) => (
              <>
                <progress
                  max={Math.max(1, row.limitUsdMinor)}
                  value={row.usdMinor}
                  aria-label={`${row.store}: share of its limit used`}
                />{' '}
                {isNearItsLimit(row) && <Pill tone="bad">near its limit</Pill>}
              </>
            ),
          },
        ]}
      />
    </Panel>
  )
}

function OperatorAccounts({ accounts }: { accounts: Data['own'] }) {
  return (
    <Panel title="The operator’s accounts">
      <Table
        caption="Accounts of the operator"
        rows={accounts}
        keyOf={({ kind, currency }) => kind + currency}
        empty="Nothing has been booked yet."
        columns={[
          { name: 'Account', show: ({ kind }) => toWords(kind) },
          {
            name: 'Balance',
            isNumber: true,
            show: ({ amountMinor, currency }) => formatMinor(amountMinor, currency),
          },
        ]}
      />
    </Panel>
  )
}
