import { useState } from 'react'
import { CURRENCIES, type Currency, majorOf } from '../../contract/money.ts'
import type { PayoutPage } from '../../gateway/operations/payouts.ts'
import type { StatementPage } from '../../gateway/operations/store-books.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { allRows, useRows } from '../ui/answer.ts'
import { formatMinor, toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Panel, Pill, Time } from '../ui/parts.tsx'
import { type Column, List } from '../ui/table.tsx'

type Page = Json<StatementPage>
type Movement = Page['movements'][number]

const movementsOf = ({ movements }: Page): readonly Movement[] => movements

const columnsIn = (currency: Currency): readonly Column<Movement>[] => [
  { name: 'When', show: ({ at }) => <Time at={at} />, csvValue: ({ at }) => at },
  { name: 'Why', show: ({ cause }) => toWords(cause), csvValue: ({ cause }) => cause },
  {
    name: 'Deposit',
    show: ({ depositId }) =>
      depositId === null ? '—' : <PageLink to={`/deposits/${depositId}`}>{depositId}</PageLink>,
    csvValue: ({ depositId }) => depositId,
  },
  { name: 'Reference', show: ({ reference }) => reference ?? '—', csvValue: ({ reference }) => reference },
  {
    name: 'Available',
    isNumber: true,
    show: ({ availableMinor }) => formatMinor(availableMinor, currency),
    csvValue: ({ availableMinor }) => majorOf(availableMinor, currency),
  },
  {
    name: 'Held',
    isNumber: true,
    show: ({ heldMinor }) => formatMinor(heldMinor, currency),
    csvValue: ({ heldMinor }) => majorOf(heldMinor, currency),
  },
]

export function Statement({ storeId }: { storeId: string }) {
  const [currency, setCurrency] = useState<Currency>('USD')
  const input = { storeId, currency }
  const rows = useRows<Page, Movement>('statement', input, movementsOf)
  return (
    <Panel
      title="Statement"
      aside={
        <label className="filter-box filter">
          Currency
          <select
            value={currency}
            onChange={(event) =>
              setCurrency(CURRENCIES.find((each) => each === event.target.value) ?? currency)
            }
          >
            {CURRENCIES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      }
    >
      <List
        caption="Movements, newest first"
        columns={columnsIn(currency)}
        rows={rows}
        keyOf={({ entryId }) => entryId}
        empty={`No money moved in ${currency}.`}
        all={() => allRows<Page, Movement>('statement', input, movementsOf)}
        fileName={`statement-${storeId}-${currency}`}
      />
    </Panel>
  )
}

type PayoutAnswer = Json<PayoutPage>
type Payout = PayoutAnswer['payouts'][number]

const payoutsOf = ({ payouts }: PayoutAnswer): readonly Payout[] => payouts

export const payoutColumns = (refresh: () => void): readonly Column<Payout>[] => [
  { name: 'Payout', show: ({ payoutId }) => payoutId, csvValue: ({ payoutId }) => payoutId },
  { name: 'Reference', show: ({ reference }) => reference, csvValue: ({ reference }) => reference },
  {
    name: 'Amount',
    isNumber: true,
    show: ({ amountMinor, currency }) => formatMinor(amountMinor, currency),
    csvValue: ({ amountMinor, currency }) => majorOf(amountMinor, currency),
  },
  { name: 'Currency', show: ({ currency }) => currency, csvValue: ({ currency }) => currency },
  { name: 'When', show: ({ paidAt }) => <Time at={paidAt} />, csvValue: ({ paidAt }) => paidAt },
  {
    name: 'State',
    show: ({ payoutId, voidedAt }) =>
      voidedAt === null ? (
        <ActButton
          act="payout void"
          label="Void"
          does="Voids a payout that was never made. The store can spend the amount again."
          needs="operator"
          needsReason
          input={() => ({ payoutId })}
          onDone={refresh}
        />
      ) : (
        <Pill tone="bad">voided</Pill>
      ),
    csvValue: ({ voidedAt }) => (voidedAt === null ? 'paid' : 'voided'),
  },
]

export function Payouts({ storeId }: { storeId: string }) {
  const rows = useRows<PayoutAnswer, Payout>('payouts', { storeId }, payoutsOf)
  return (
    <Panel title="Payouts">
      <List
        caption="Payouts, newest first"
        columns={payoutColumns(rows.refresh)}
        rows={rows}
        keyOf={({ payoutId }) => payoutId}
        empty="Nothing has been paid out yet."
        all={() => allRows<PayoutAnswer, Payout>('payouts', { storeId }, payoutsOf)}
        fileName={`payouts-${storeId}`}
      />
    </Panel>
  )
}
