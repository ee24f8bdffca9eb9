import { CURRENCIES, majorOf, percentOf } from '../../contract/money.ts'
import type { StoreView } from '../../gateway/operations/stores.ts'
import type { Json } from '../api/json.ts'
import { ActButton, type Field, listOf } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { formatMinor, toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Facts, Heading, Loaded, Panel, Pill, Status, Time } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { Payouts, Statement } from './books.tsx'
import { Keys } from './keys.tsx'

type View = Json<StoreView>
type PanelProps = { store: View; refresh: () => void }

export function StorePage({ storeId }: { storeId: string }) {
  const { shown, refresh } = useAnswer<View>('store', { storeId })
  return (
    <Loaded shown={shown} refresh={refresh}>
      {(store) => (
        <>
          <Heading title={store.name}>
            <PageLink className="button small" to={`/deposits?store=${store.storeId}`}>
              Its deposits
            </PageLink>
            <PageLink className="button small" to={`/reports/${store.storeId}`}>
              Report
            </PageLink>
          </Heading>
          <Settings store={store} refresh={refresh} />
          <Balances store={store} refresh={refresh} />
          <Statement storeId={store.storeId} />
          <Payouts storeId={store.storeId} />
          <Keys {...store} refresh={refresh} />
          <Endpoints store={store} refresh={refresh} />
        </>
      )}
    </Loaded>
  )
}

function Settings({ store, refresh }: PanelProps) {
  const { storeId, disabledAt } = store
  return (
    <Panel
      title={`Store ${storeId}`}
      aside={disabledAt === null ? <Pill tone="good">enabled</Pill> : <Pill tone="bad">disabled</Pill>}
    >
      <Facts
        facts={[
          ['Credit', toWords(store.creditMode)],
          ['Liable for reversals', store.liability],
          ['Risk limit', formatMinor(store.riskLimit.amountMinor, 'USD')],
          ['At risk now', formatMinor(store.atRisk.amountMinor, 'USD')],
          [
            'Commission',
            store.commissionBps === null ? 'as the settings say' : `${percentOf(store.commissionBps)} %`,
          ],
          ['Games', store.games?.join(', ') ?? 'all'],
          ['Origins', store.origins.join(', ')],
          ['Colour', store.accent ?? '—'],
          ['Since', <Time key="t" at={store.createdAt} />],
        ]}
      />
      <div className="acts">
        <ActButton
          act="store update"
          label="Change settings"
          does="Delivered trades keep their terms. New games apply to deposits opened from now on, a new commission to prices shown from now on."
          needs="operator"
          fields={fieldsOf(store)}
          input={(typed) => ({ storeId, ...changesOf(store, typed) })}
          onDone={refresh}
          secrets={{ webhookSecret: 'Webhook secret' }}
        />
        <ActButton
          act="store free-room"
          label="Make room in its limit"
          does="Frees the part of the store’s risk limit that reversals use. Otherwise, each reversal uses its part for 30 days."
          needs="operator"
          needsReason
          input={() => ({ storeId })}
          onDone={refresh}
        />
        <ActButton
          act={disabledAt === null ? 'store disable' : 'store enable'}
          label={disabledAt === null ? 'Disable' : 'Enable'}
          does={
            disabledAt === null
              ? 'The store opens no deposits and takes no items from now on. Open trades continue.'
              : 'The store opens deposits and takes items again.'
          }
          needs="operator"
          needsReason={disabledAt === null}
          input={() => ({ storeId })}
          onDone={refresh}
        />
      </div>
    </Panel>
  )
}

function fieldsOf(store: View): readonly Field[] {
  return [
    { name: 'name', label: 'Name', value: store.name },
    { name: 'origins', label: 'Origins, separated by commas', value: store.origins.join(', ') },
    {
      name: 'creditMode',
      label: 'Credit',
      value: store.creditMode,
      options: ['on_accept', 'on_release'],
    },
    {
      name: 'liability',
      label: 'Liable for reversals',
      value: store.liability,
      options: ['operator', 'store'],
    },
    {
      name: 'riskLimit',
      label: 'Risk limit in whole dollars',
      value: String(Math.floor(majorOf(store.riskLimit.amountMinor, 'USD'))),
    },
    {
      name: 'commission',
      label: 'Commission in percent',
      value: store.commissionBps === null ? '' : percentOf(store.commissionBps),
      isOptional: true,
      hint: 'Such as 24.50. Leave empty for the commission in the settings.',
    },
    {
      name: 'games',
      label: 'Games, separated by commas',
      value: store.games?.join(', ') ?? '',
      isOptional: true,
      hint: 'Leave empty for all.',
    },
    {
      name: 'accent',
      label: 'Colour',
      value: store.accent ?? '',
      isOptional: true,
      hint: 'Such as #3366ff. Leave empty for the page’s own colour.',
    },
    {
      name: 'webhookUrl',
      label: 'New address of its first webhook endpoint',
      isOptional: true,
      hint: 'Leave empty to change nothing.',
    },
  ]
}

/** Returns only the changed fields, so the record of the act lists just these. */
function changesOf(store: View, typed: Record<string, string>): Record<string, unknown> {
  const current = new Map(fieldsOf(store).map(({ name, value = '' }) => [name, value]))
  const changed = Object.entries(typed).filter(([name, value]) => current.get(name) !== value.trim())
  return Object.fromEntries(
    changed.map(([name, value]) => {
      const text = value.trim()
      if (name === 'origins') return [name, listOf(text)]
      if (name === 'games') return [name, text === '' ? null : listOf(text)]
      if (name === 'accent' || name === 'commission') return [name, text === '' ? null : text]
      if (name === 'riskLimit') return ['riskLimitUsd', text]
      return [name, text]
    }),
  )
}

function Balances({ store, refresh }: PanelProps) {
  return (
    <Panel title="Balances">
      <Table
        caption="Balances by currency"
        rows={store.balances}
        keyOf={({ currency }) => currency}
        empty="Nothing has been credited yet."
        columns={[
          { name: 'Currency', show: ({ currency }) => currency },
          {
            name: 'Available',
            isNumber: true,
            show: ({ availableMinor, currency }) => formatMinor(availableMinor, currency),
          },
          {
            name: 'Held',
            isNumber: true,
            show: ({ heldMinor, currency }) => formatMinor(heldMinor, currency),
          },
          {
            name: 'Taken back',
            isNumber: true,
            show: ({ reversedMinor, currency }) => formatMinor(reversedMinor, currency),
          },
        ]}
      />
      <div className="acts">
        {BOOKINGS.map(({ act, label, does }) => (
          <ActButton
            key={act}
            act={act}
            label={label}
            does={does}
            needs="operator"
            needsReason
            fields={BOOKING_FIELDS}
            input={(typed) => ({ storeId: store.storeId, ...typed })}
            onDone={refresh}
          />
        ))}
      </div>
    </Panel>
  )
}

const BOOKINGS = [
  {
    act: 'payout record',
    label: 'Record a payout',
    does: 'Records what you paid to the store outside the till. The same reference is recorded once.',
  },
  { act: 'store credit', label: 'Credit', does: 'Credits money that does not come from a deposit.' },
  { act: 'store debit', label: 'Debit', does: 'Takes money from the store’s available balance.' },
  { act: 'store write-off', label: 'Write off', does: 'Writes off the store’s debt, at your loss.' },
] as const

const BOOKING_FIELDS: readonly Field[] = [
  { name: 'currency', label: 'Currency', options: CURRENCIES },
  { name: 'amount', label: 'Amount', hint: 'With its decimals, such as 1250.00.' },
  { name: 'reference', label: 'Reference', hint: 'Prevents the same entry from being recorded twice.' },
]

function Endpoints({ store, refresh }: PanelProps) {
  const { storeId } = store
  return (
    <Panel title="Webhooks">
      <Table
        caption="Webhook endpoints"
        rows={store.endpoints}
        keyOf={({ endpointId }) => endpointId}
        empty="No endpoint: the store receives no events."
        columns={[
          {
            name: 'Number',
            show: ({ endpointId }) => <PageLink to={`/webhooks/${endpointId}`}>{endpointId}</PageLink>,
          },
          { name: 'Address', show: ({ url }) => url },
          { name: 'State', show: ({ state }) => <Status name={state} /> },
        ]}
      />
      <Table
        caption="Addresses its webhooks may use, besides port 443 of public hosts"
        rows={store.addresses}
        keyOf={({ address }) => address}
        empty="Webhooks go only to port 443 of public hosts."
        columns={[
          { name: 'Address', show: ({ address }) => <code>{address}</code> },
          { name: 'Inside your network', show: ({ inside }) => (inside ? 'yes' : 'no') },
          { name: 'Since', show: ({ allowedAt }) => <Time at={allowedAt} /> },
          {
            name: 'Acts',
            show: ({ address }) => (
              <ActButton
                act="store forbid-address"
                label="Close"
                does={`Webhooks of the store no longer go to ${address}.`}
                needs="operator"
                input={() => ({ storeId, address })}
                onDone={refresh}
              />
            ),
          },
        ]}
      />
      <div className="acts">
        <ActButton
          act="store allow-address"
          label="Open an address"
          does="Lets the store’s webhooks go to another port, or into your own network."
          needs="operator"
          fields={[
            { name: 'address', label: 'Host and port', hint: 'Such as shop.example:8443.' },
            {
              name: 'inside',
              label: 'May its name lead to private addresses?',
              options: ['no', 'yes'],
              hint: 'Not needed for localhost or a private address in digits.',
            },
          ]}
          input={({ address, inside }) => ({ storeId, address, inside: inside === 'yes' })}
          onDone={refresh}
        />
      </div>
    </Panel>
  )
}
